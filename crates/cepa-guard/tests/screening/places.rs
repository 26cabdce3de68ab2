use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use cepa_core::{
    Acting, Agent, CancelToken, ConfirmResult, ContentBlock, ContentDelta, Cx, HintBlock, ModelCall, Next,
    Reasoning, Reply, ReplyInput, ToolCallBlock, UserConfirmResultEvent, on_acting, on_model_call,
    on_reasoning, on_reply,
    serde_json::{self, json},
    testing::{Answer, EventLog, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_guard::{Action, Pii, PiiGuard, ScreenError, ToolOutputLimit};

use crate::support::talk;

const EMAIL: &str = "bob@example.com";

fn emails(action: Action) -> cepa_guard::PiiGuardBuilder {
    PiiGuard::builder().hash_key("0123456789abcdef").detect(Pii::Email, action)
}

#[tokio::test]
async fn hints_of_other_layers_do_not_reach_the_model_or_the_state() {
    let hinting = on_reasoning(|cx: Cx<Reasoning>, input, next: Next<Reasoning>| async move {
        let hint = ContentBlock::Hint(HintBlock::new(format!("The user is {EMAIL}.")));
        cx.state()?.append_context(cx.agent_name(), [hint]);
        next.run(input).await
    });
    let model = ScriptedModel::new(["Hello"]);
    let builder =
        Agent::builder("Friday").middleware(emails(Action::Redact).build().unwrap()).middleware(hinting);
    let (left, _) = talk(builder, &model, &["Hi"]).await;
    left.holds_none_of(&[EMAIL]);
    assert!(!left.of("The user is [REDACTED:email].").is_empty());
}

#[tokio::test]
async fn the_system_prompt_is_the_developers_own_unless_said_otherwise() {
    let prompt = |guard: PiiGuard| async move {
        let model = ScriptedModel::new(["Hello"]);
        let builder = Agent::builder("Friday").system_prompt(format!("Write to {EMAIL}.")).middleware(guard);
        talk(builder, &model, &["Hi"]).await;
        model.requests()[0].messages[0].text().unwrap()
    };
    assert_eq!(prompt(emails(Action::Redact).build().unwrap()).await, format!("Write to {EMAIL}."));
    let guard = emails(Action::Redact).system_prompt(true).build().unwrap();
    assert_eq!(prompt(guard).await, "Write to [REDACTED:email].");
}

#[tokio::test]
async fn what_is_not_looked_at_goes_through() {
    let guard = emails(Action::Redact).input(false).requests(false).build().unwrap();
    let model = ScriptedModel::new([format!("You are {EMAIL} ")]);
    let (left, agent) = talk(Agent::builder("Friday").middleware(guard), &model, &[EMAIL]).await;
    assert_eq!(left.events[0].text(), "You are [REDACTED:email] ");
    assert_eq!(agent.state().unwrap().context[0].text().as_deref(), Some(EMAIL));
}

#[tokio::test]
async fn the_same_value_has_the_same_code_and_another_key_another_one() {
    let codes = |key: &'static str| async move {
        let guard = PiiGuard::builder().detect(Pii::Email, Action::Hash).hash_key(key).build().unwrap();
        let model = ScriptedModel::new([format!("{EMAIL} is {EMAIL}, not x{EMAIL}")]);
        let (left, _) = talk(Agent::builder("Friday").middleware(guard), &model, &["Who?"]).await;
        left.events[0].text().split(' ').map(|word| word.trim_end_matches(',').to_owned()).collect::<Vec<_>>()
    };
    let (one, other) = (codes("0123456789abcdef").await, codes("0123456789abcdeg").await);
    assert_eq!(one[0], one[2]);
    assert_ne!(one[0], one[4]);
    assert_ne!(one[0], other[0]);
    assert!(one[0].starts_with("[email:") && one[0].len() == 24, "{one:?}");
}

#[tokio::test]
async fn text_flows_while_the_model_speaks() {
    let model = ScriptedModel::new([Answer::new().texts(["One two ", "three ", "four"])]);
    let mut agent = Agent::builder("Friday")
        .model(model)
        .middleware(emails(Action::Redact).build().unwrap())
        .build()
        .unwrap();
    let log = EventLog::of(agent.reply("Count")).await;
    log.only(["TEXT_BLOCK_START", "TEXT_BLOCK_DELTA", "TEXT_BLOCK_END"]).assert([
        "TEXT_BLOCK_START",
        "TEXT_BLOCK_DELTA \"One two \"",
        "TEXT_BLOCK_DELTA \"three \"",
        "TEXT_BLOCK_DELTA four",
        "TEXT_BLOCK_END",
    ]);
}

#[tokio::test]
async fn thinking_and_text_stay_blocks_of_their_own() {
    let both = [
        ContentDelta::Thinking { thinking: "that".into(), id: None, extra: Default::default() },
        ContentDelta::Text { text: "He".into(), id: None },
    ];
    let answer = Answer::new().thinking("I think ").chunk(both.into_iter().collect()).text("llo");
    let mut agent = Agent::builder("Friday")
        .model(ScriptedModel::new([answer]))
        .middleware(emails(Action::Redact).build().unwrap())
        .build()
        .unwrap();
    let log = EventLog::of(agent.reply("Hi")).await;
    let events = log.only([
        "THINKING_BLOCK_START",
        "THINKING_BLOCK_DELTA",
        "THINKING_BLOCK_END",
        "TEXT_BLOCK_START",
        "TEXT_BLOCK_DELTA",
        "TEXT_BLOCK_END",
    ]);
    events.assert([
        "THINKING_BLOCK_START",
        "THINKING_BLOCK_DELTA \"I think \"",
        "THINKING_BLOCK_DELTA that",
        "THINKING_BLOCK_END",
        "TEXT_BLOCK_START",
        "TEXT_BLOCK_DELTA Hello",
        "TEXT_BLOCK_END",
    ]);
}

#[tokio::test]
async fn a_person_who_answers_a_question_is_looked_at_too() {
    let model =
        ScriptedModel::new([Answer::new().tool_call("send", json!({"to": "nobody"})), "Sent.".into()]);
    let send = ScriptedTool::echo("send").asks();
    let mut agent = Agent::builder("Friday")
        .model(model)
        .tool(send.clone())
        .middleware(emails(Action::Redact).build().unwrap())
        .build()
        .unwrap();
    let parked = agent.reply("Send it").await.unwrap();
    let waiting = agent.state().unwrap().context[1].tool_calls().next().unwrap().id.clone();
    let changed = ToolCallBlock::new(waiting, "send", format!(r#"{{"to":"{EMAIL}"}}"#));
    let answer = UserConfirmResultEvent::new(parked.id.clone(), [ConfirmResult::confirm(changed)]);
    agent.reply(answer).await.unwrap();
    assert_eq!(send.calls(), [json!({"to": "[REDACTED:email]"})]);
    assert!(!serde_json_of(&agent).contains(EMAIL));
}

fn serde_json_of(agent: &Agent) -> String {
    serde_json::to_string(&*agent.state().unwrap()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_or_a_drop_leaves_a_state_to_go_on_with() {
    for drops in [false, true] {
        for at_tool in [false, true] {
            let first = if at_tool {
                Answer::new().text("Call ").tool_call("look", json!({"who": EMAIL}))
            } else {
                Answer::new().texts(["It is bo", "b@exam"]).hangs()
            };
            let model = ScriptedModel::new([first, "Hello again.".into()]);
            let look = ScriptedTool::new("look", [ToolAnswer::new().text("bob@exam").hangs()]);
            let mut agent = Agent::builder("Friday")
                .model(model)
                .tool(look)
                .middleware(emails(Action::Redact).build().unwrap())
                .build()
                .unwrap();
            let token = CancelToken::new();
            let call = agent.reply("Who?").cancel_on(token.clone());
            if drops {
                tokio::time::timeout(Duration::from_secs(1), call).await.unwrap_err();
            } else {
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    token.cancel();
                });
                call.await.unwrap();
            }
            assert!(!serde_json_of(&agent).contains(EMAIL));
            let again = agent.reply("Are you there?").await.unwrap();
            assert_eq!(again.text().unwrap(), "Hello again.", "drops {drops}, at the tool {at_tool}");
        }
    }
}

#[test]
fn a_guard_that_cannot_be_says_why() {
    let error = |builder: cepa_guard::PiiGuardBuilder| builder.build().unwrap_err();
    assert_eq!(error(PiiGuard::builder()), ScreenError::NoDetector);
    assert_eq!(
        error(PiiGuard::builder().detect(Pii::Card, Action::Hash)).to_string(),
        "detector `card` hashes its values, and there is no key: give one with `hash_key`"
    );
    assert_eq!(error(emails(Action::Hash).hash_key("short")), ScreenError::ShortKey(5));
    assert!(matches!(
        error(PiiGuard::builder().pattern("x", "(", 9, Action::Redact)),
        ScreenError::Pattern { .. }
    ));
    assert!(matches!(
        error(PiiGuard::builder().pattern("x", "a*", 9, Action::Redact)),
        ScreenError::Pattern { .. }
    ));
    assert!(matches!(
        error(PiiGuard::builder().pattern("x", "a", 0, Action::Redact)),
        ScreenError::Longest { .. }
    ));
    let shown = format!("{:?}", emails(Action::Hash).hash_key("a key nobody sees").build().unwrap());
    assert!(!shown.contains("nobody"), "{shown}");
}

#[tokio::test]
async fn layers_between_the_two_halves_see_nothing() {
    let seen = Arc::new(Mutex::new(String::new()));
    let (of_replies, of_models, of_tools) = (seen.clone(), seen.clone(), seen.clone());
    let replies = on_reply(move |_cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>| {
        *of_replies.lock().unwrap() += &format!("{input:?}");
        next.run(input)
    });
    let models = on_model_call(move |_cx: Cx<ModelCall>, request, next: Next<ModelCall>| {
        let seen = of_models.clone();
        async move {
            let response = next.collect(request).await?;
            *seen.lock().unwrap() += &format!("{response:?}");
            Ok(response)
        }
    });
    let tools = on_acting(move |_cx: Cx<Acting>, input, next: Next<Acting>| {
        let seen = of_tools.clone();
        async move {
            let response = next.collect(input).await?;
            *seen.lock().unwrap() += &format!("{response:?}");
            Ok(response)
        }
    });
    let guard = emails(Action::Redact).build().unwrap();
    let call = Answer::new().text(format!("I ask {EMAIL} ")).tool_call("look", json!({"who": EMAIL}));
    let model = ScriptedModel::new([call, "Done.".into()]);
    let builder = Agent::builder("Friday")
        .tool(ScriptedTool::new("look", [EMAIL]))
        .middleware(guard.for_input())
        .middleware(replies)
        .middleware(models)
        .middleware(tools)
        .middleware(ToolOutputLimit::builder().max_bytes(1000).build().unwrap())
        .middleware(guard);
    let (left, _) = talk(builder, &model, &[EMAIL]).await;
    left.holds_none_of(&[EMAIL]);
    assert!(left.of("stands").is_empty(), "the order is as it should be: {left:?}");
    let seen = seen.lock().unwrap();
    assert_eq!((seen.matches("[REDACTED:email]").count(), seen.contains(EMAIL)), (4, false), "{seen}");
}
