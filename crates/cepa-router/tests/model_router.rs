//! Routing as a user of an agent sees it: who answers, what it is asked, and what is left when something goes wrong.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

use std::{
    future::{IntoFuture, pending},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use cepa_core::{
    Agent, AgentBuilder, BoxError, CancelToken, ConfirmResult, ErrorType, EventKind, InjectionConfig,
    ModelError, Msg, Purpose, ReplyFinishedReason, UserConfirmResultEvent,
    serde_json::{Value, from_value, json, to_value},
    testing::{Answer, EventLog, Logged, ScriptedModel, ScriptedTool},
};
use cepa_router::{ChatModelCandidate, ChoiceQuestion, ModelRouterBuilder, ModelRouterMiddleware};

/// A model that says its own name, however often.
fn saying(name: &'static str) -> ScriptedModel {
    ScriptedModel::answering(move |_| name).named(name)
}

fn router() -> ModelRouterBuilder {
    ModelRouterMiddleware::builder([
        ChatModelCandidate::new("fast", saying("small"), "short questions"),
        ChatModelCandidate::new("deep", saying("large"), "hard \"questions\""),
    ])
}

fn builder(router: ModelRouterBuilder) -> AgentBuilder {
    let mut injection = InjectionConfig::default();
    injection.inject_runtime_state = false;
    Agent::builder("Friday")
        .model(saying("own"))
        .injection_config(injection)
        .middleware(router.build().unwrap())
}

/// Names the candidate that the user asks for.
async fn as_told(question: ChoiceQuestion) -> Result<Option<String>, BoxError> {
    Ok(Some(question.text().to_owned()))
}

/// Fails the test where it would hang.
async fn within<T>(run: impl IntoFuture<Output = T>) -> T {
    match tokio::time::timeout(Duration::from_secs(3600), run).await {
        Ok(output) => output,
        Err(_) => panic!("hangs"),
    }
}

async fn said(agent: &mut Agent, text: &str) -> String {
    within(agent.reply(text)).await.unwrap().text().unwrap()
}

/// What is kept with the session.
fn kept(agent: &Agent) -> Value {
    to_value(&*agent.state().unwrap()).unwrap()["middle_context"]["ModelRouterMiddleware"].clone()
}

fn reply_id(agent: &Agent) -> String {
    agent.state().unwrap().reply_id().to_string()
}

#[tokio::test(start_paused = true)]
async fn a_chat_model_chooses_and_the_events_name_the_chosen_one() {
    let choice =
        Answer::new().tool_call("generate_structured_output", json!({"choice": "deep"})).usage(40, 2);
    let chooser = ScriptedModel::new([choice]).named("chooser");
    let mut agent = builder(router().router_model(chooser.clone())).build().unwrap();
    let log = EventLog::of(agent.reply("Why is the sky blue?")).await;
    log.assert([
        "REPLY_START",
        "MODEL_CALL_START model_name=large",
        "...",
        "TEXT_BLOCK_DELTA large",
        "...",
        "REPLY_END completed",
    ]);
    let asked = &chooser.requests()[0];
    assert_eq!(asked.purpose, Purpose::Routing);
    let texts: Vec<_> = asked.messages.iter().map(|msg| msg.text().unwrap()).collect();
    assert!(texts[0].contains(r#""deep": "hard \"questions\"""#), "{}", texts[0]);
    assert!(texts[1].starts_with("Why is the sky blue?"), "{}", texts[1]);
    // What the choice cost belongs to the reply.
    assert_eq!(log.into_outcome().unwrap().usage.unwrap().input_tokens, 40);
    assert_eq!(kept(&agent), json!({reply_id(&agent): "deep"}));
}

#[tokio::test(start_paused = true)]
async fn without_a_router_model_the_agents_own_chooses() {
    let own = ScriptedModel::answering(|request| match request.purpose {
        Purpose::Routing => Answer::new().tool_call("generate_structured_output", json!({"choice": "fast"})),
        _ => Answer::new().text("own"),
    });
    let mut agent = builder(router()).model(own.clone()).build().unwrap();
    assert_eq!(said(&mut agent, "hi").await, "small");
    assert_eq!(own.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn each_reply_is_routed_anew_and_only_the_latest_choice_is_kept() {
    let mut agent = builder(router().classifier(as_told)).build().unwrap();
    assert_eq!(said(&mut agent, "fast").await, "small");
    assert_eq!(said(&mut agent, "deep").await, "large");
    assert_eq!(kept(&agent), json!({reply_id(&agent): "deep"}));
    // Nothing to choose by.
    assert_eq!(within(agent.reply(())).await.unwrap().text().as_deref(), Some("own"));
    assert_eq!(kept(&agent), json!({reply_id(&agent): null}));
}

#[tokio::test(start_paused = true)]
async fn whatever_goes_wrong_with_the_choice_the_own_model_answers_and_a_warning_says_why() {
    async fn fails(_: ChoiceQuestion) -> Result<Option<String>, BoxError> {
        Err("the classifier is out".into())
    }
    async fn hangs(_: ChoiceQuestion) -> Result<Option<String>, BoxError> {
        pending().await
    }
    let down = || ModelError::new(ErrorType::Internal, "down");
    let slow = Answer::new().delay(Duration::from_secs(60)).text("too late");
    let half = Answer::new().text("I think").fails(down());
    let chatty = ScriptedModel::answering(|_| "The deep one, I would say.");
    let cases = [
        (router().classifier(fails), "the classifier is out"),
        (router().classifier(hangs), "in time"),
        (router().classifier(as_told), "no candidate of the chosen name"),
        (router().router_model(ScriptedModel::new([Answer::from(down()), down().into()])), "down"),
        (router().router_model(ScriptedModel::new([half, down().into()])), "down"),
        (router().router_model(ScriptedModel::new([slow])), "in time"),
        (router().router_model(chatty), "generate_structured_output"),
    ];
    for (router, warning) in cases {
        let mut agent = builder(router.deadline(Duration::from_secs(30))).build().unwrap();
        let logged = Logged::warnings("cepa_router");
        assert_eq!(said(&mut agent, "hi").await, "own", "{warning}");
        assert_eq!(kept(&agent), json!({reply_id(&agent): null}), "{warning}");
        let lines = logged.take();
        assert!(lines.len() == 1 && lines[0].contains(warning), "{warning}: {lines:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_choice_holds_over_a_pause_in_another_process() {
    let asked = Arc::new(AtomicUsize::new(0));
    let make = || {
        let asked = asked.clone();
        let calls = ScriptedModel::answering(|request| {
            let has_result = request.messages.iter().any(|msg| msg.tool_results().next().is_some());
            if has_result { Answer::new().text("large") } else { Answer::new().tool_call("look", json!({})) }
        });
        let router = ModelRouterMiddleware::builder([ChatModelCandidate::new("deep", calls, "all")]);
        let router = router.classifier(move |_| {
            asked.fetch_add(1, SeqCst);
            async { Ok(Some("deep".to_owned())) }
        });
        builder(router).tool(ScriptedTool::new("look", ["seen"]).asks())
    };
    let mut before = make().build().unwrap();
    within(before.reply("go")).await.unwrap();
    let state = from_value(to_value(&*before.state().unwrap()).unwrap()).unwrap();
    let mut after = make().state(state).build().unwrap();
    let waiting = after.waiting_for().unwrap();
    let yes = UserConfirmResultEvent::new(
        waiting.reply_id,
        waiting.confirmations.into_iter().map(ConfirmResult::confirm),
    );
    assert_eq!(within(after.reply(yes)).await.unwrap().text().as_deref(), Some("large"));
    assert_eq!(asked.load(SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_choice_that_cannot_be_read_or_is_gone_is_no_failure() {
    let mut agent = builder(router().classifier(as_told)).build().unwrap();
    said(&mut agent, "fast").await;
    let mut state = to_value(&*agent.state().unwrap()).unwrap();
    state["middle_context"]["ModelRouterMiddleware"] = json!("nonsense");
    let mut agent = builder(router().classifier(as_told)).state(from_value(state).unwrap()).build().unwrap();
    assert_eq!(said(&mut agent, "deep").await, "large");
}

/// F33: the reply that is closed early, and the next one right after it.
#[tokio::test(start_paused = true)]
async fn f33_a_reply_that_is_dropped_leaves_the_agents_own_model_alone() {
    let slow = ScriptedModel::answering(|_| Answer::new().text("one ").hangs());
    let router = ModelRouterMiddleware::builder([ChatModelCandidate::new("slow", slow, "all")]);
    let mut agent = builder(router.classifier(as_told)).build().unwrap();
    {
        let mut stream = agent.reply("slow").stream();
        while let Some(event) = stream.next().await {
            if let EventKind::TextBlockDelta { .. } = &event.kind {
                break;
            }
        }
    }
    assert_eq!(said(&mut agent, "own, please").await, "own");
    assert_eq!(agent.definition().model().name(), "own");
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_while_it_is_chosen_ends_the_reply() {
    async fn hangs(_: ChoiceQuestion) -> Result<Option<String>, BoxError> {
        pending().await
    }
    let mut agent = builder(router().classifier(hangs).deadline(Duration::from_secs(600))).build().unwrap();
    let token = CancelToken::new();
    let later = token.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        later.cancel();
    });
    let message = within(agent.reply("hi").cancel_on(token)).await.unwrap();
    assert_eq!(message.finished_reason, Some(ReplyFinishedReason::Interrupted));
    assert_eq!(kept(&agent), json!({}));
}

#[tokio::test(start_paused = true)]
async fn the_chosen_model_has_the_agents_retries_and_fallback() {
    let busy = || ModelError::new(ErrorType::RateLimit, "busy");
    let flaky = ScriptedModel::new([Answer::from(busy()), Answer::new().text("at last")]);
    let broken = ScriptedModel::answering(move |_| Answer::from(busy()));
    let router = ModelRouterMiddleware::builder([
        ChatModelCandidate::new("flaky", flaky.clone(), "a"),
        ChatModelCandidate::new("broken", broken.clone(), "b"),
    ]);
    let mut agent =
        builder(router.classifier(as_told)).model_retries(1).fallback_model(saying("spare")).build().unwrap();
    assert_eq!(said(&mut agent, "flaky").await, "at last");
    assert_eq!(said(&mut agent, "broken").await, "spare");
    assert_eq!((flaky.requests().len(), broken.requests().len()), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_thousand_agents_of_one_definition_are_each_routed_by_itself() {
    let definition = builder(router().classifier(|question: ChoiceQuestion| async move {
        let odd = question.text().parse::<u64>()? % 2 == 1;
        tokio::time::sleep(Duration::from_millis(if odd { 5 } else { 9 })).await;
        Ok(Some(if odd { "fast" } else { "deep" }.to_owned()))
    }))
    .define()
    .unwrap();
    let replies = (0..1_000_u64).map(|number| {
        let mut agent = definition.agent();
        tokio::spawn(async move { (number, said(&mut agent, &number.to_string()).await) })
    });
    for reply in replies.collect::<Vec<_>>() {
        let (number, text) = reply.await.unwrap();
        assert_eq!(text, if number % 2 == 1 { "small" } else { "large" });
    }
}

#[tokio::test(start_paused = true)]
async fn the_latest_message_of_a_user_counts_and_a_long_one_is_shortened() {
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let keep = seen.clone();
    let router = router().text_limit(10).classifier(move |question: ChoiceQuestion| {
        keep.lock().unwrap().push(question.text().to_owned());
        async { Ok(None) }
    });
    let mut agent = builder(router).build().unwrap();
    let messages =
        vec![Msg::user("user", "first"), Msg::user("user", "second"), Msg::assistant("Bob", "third")];
    within(agent.reply(messages)).await.unwrap();
    assert_eq!(said(&mut agent, &format!("begin{}finis", "x".repeat(100_000))).await, "own");
    assert_eq!(*seen.lock().unwrap(), ["second", "begin\n[…]\nfinis"]);
}
