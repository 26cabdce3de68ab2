//! Faults that users of other agent frameworks have met with budgets. Each test is named after its row in
//! `docs/faults.md`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

use std::{
    future::IntoFuture,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use cepa_budget::{AtEnd, BudgetSpent, Per, ReplyBudgetControlMiddleware, texts};
use cepa_core::{
    Agent, AgentBuilder, CancelToken, ConfirmResult, ContentBlock, EventKind, Flow, InjectionConfig,
    MiddlewareExt, Msg, ReactConfig, TextOrBlocks, ToolChoiceMode, UserConfirmResultEvent, on_model_call,
    on_reply,
    serde_json::{Value, from_value, json, to_value},
    testing::{Answer, EventLog, Logged, ScriptedModel, ScriptedTool},
};

fn builder(model: &ScriptedModel) -> AgentBuilder {
    let mut injection = InjectionConfig::default();
    injection.inject_runtime_state = false;
    Agent::builder("Friday").model(model.clone()).injection_config(injection)
}

/// Fails the test where it would hang.
async fn within<T>(run: impl IntoFuture<Output = T>) -> T {
    match tokio::time::timeout(Duration::from_secs(3600), run).await {
        Ok(output) => output,
        Err(_) => panic!("hangs"),
    }
}

fn budget(tokens: u32) -> ReplyBudgetControlMiddleware {
    ReplyBudgetControlMiddleware::builder(tokens).build().unwrap()
}

/// What a layer with this key has counted, by reply.
fn spent(agent: &Agent, key: &str) -> Value {
    to_value(&*agent.state().unwrap()).unwrap()["middle_context"][key].clone()
}

/// What the layer with the usual key has counted for the reply at hand.
fn spent_on_reply(agent: &Agent) -> Value {
    let reply_id = agent.state().unwrap().reply_id().to_string();
    spent(agent, "ReplyBudgetControlMiddleware")[reply_id].clone()
}

/// How often the model was told that the budget is spent.
fn hints(agent: &Agent) -> usize {
    let is_hint = |block: &ContentBlock| match block {
        ContentBlock::Hint(hint) => hint.hint == TextOrBlocks::from(texts::HINT_BUDGET),
        _ => false,
    };
    let state = agent.state().unwrap();
    state.context.iter().flat_map(|msg| &msg.content).filter(|block| is_hint(block)).count()
}

#[tokio::test(start_paused = true)]
async fn r04_an_outer_layer_that_has_another_round_keeps_the_count() {
    let left = Arc::new(AtomicUsize::new(1));
    let swallows_once = on_reply(move |_cx, input, next| {
        let left = left.clone();
        next.tap_shared(input, move |event| match event.kind {
            EventKind::ReplyEnd { .. } if left.swap(0, SeqCst) > 0 => Flow::Drop,
            _ => Flow::Keep,
        })
    });
    let model =
        ScriptedModel::new([Answer::new().text("one").usage(10, 5), Answer::new().text("two").usage(10, 5)]);
    let mut agent = builder(&model).middleware(swallows_once).middleware(budget(1000)).build().unwrap();
    assert_eq!(within(agent.reply("Go")).await.unwrap().text().as_deref(), Some("two"));
    assert_eq!(spent_on_reply(&agent), 30);
}

#[tokio::test(start_paused = true)]
async fn r05_a_model_that_insists_is_stopped() {
    let insists = ScriptedModel::answering(|_| Answer::new().tool_call("look", json!({})).usage(100, 100));
    let look = ScriptedTool::echo("look");
    let mut react = ReactConfig::default();
    react.max_iters = 5;
    let mut agent =
        builder(&insists).react_config(react).tool(look.clone()).middleware(budget(100)).build().unwrap();
    within(EventLog::of(agent.reply("Go"))).await.assert([
        "...",
        "TOOL_RESULT_END error",
        "REPLY_END completed",
    ]);
    assert_eq!((insists.requests().len(), look.calls().len(), hints(&agent)), (2, 1, 1));
    assert_eq!(insists.requests()[1].tool_choice.as_ref().unwrap().mode, ToolChoiceMode::None);
}

#[tokio::test(start_paused = true)]
async fn r62_a_budget_of_the_session_limits_what_comes_later() {
    let answers = || [1, 2].map(|_| Answer::new().tool_call("look", json!({})).usage(60, 60));
    let script = || ScriptedModel::new(answers().into_iter().chain([Answer::from("Enough.")]));
    let session = |at_end| {
        let budget = ReplyBudgetControlMiddleware::builder(100).per(Per::Session).at_end(at_end);
        budget.build().unwrap()
    };
    let agent = |model: &ScriptedModel, at_end| {
        builder(model).tool(ScriptedTool::echo("look")).middleware(session(at_end)).build().unwrap()
    };

    // Told: the second reply may call no tool from its first round on.
    let model = script();
    let mut told = agent(&model, AtEnd::Hint);
    within(told.reply("Go")).await.unwrap();
    let before = model.requests().len();
    within(told.reply("Go on")).await.unwrap();
    assert_eq!(model.requests()[before].tool_choice.as_ref().unwrap().mode, ToolChoiceMode::None);

    // Ended: without another model call.
    let model = script();
    let mut ended = agent(&model, AtEnd::End);
    within(ended.reply("Go")).await.unwrap();
    let before = model.requests().len();
    within(EventLog::of(ended.reply("Go on"))).await.assert(["REPLY_START", "REPLY_END completed"]);
    assert_eq!(model.requests().len(), before);

    // Refused: with an error that has the numbers.
    let mut refused = agent(&script(), AtEnd::Error);
    let error = within(refused.reply("Go")).await.unwrap_err();
    let numbers = error.downcast_ref::<BudgetSpent>().unwrap();
    assert_eq!((numbers.spent, numbers.budget), (120.0, 100.0));
}

#[tokio::test(start_paused = true)]
async fn r62_an_interrupted_call_counts_for_the_session() {
    let half = || Answer::new().text("half of it").hangs();
    let model = ScriptedModel::new([half(), half()]);
    let session = ReplyBudgetControlMiddleware::builder(1_000).per(Per::Session).build().unwrap();
    let mut agent = builder(&model).middleware(session).build().unwrap();
    let mut spent_before = 0;
    for _ in 0..2 {
        let token = CancelToken::new();
        let later = token.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            later.cancel();
        });
        within(agent.reply("Go").cancel_on(token)).await.unwrap();
        let spent = spent(&agent, "ReplyBudgetControlMiddleware")["session"].as_u64().unwrap();
        assert!(spent > spent_before, "{spent}");
        spent_before = spent;
    }
}

#[tokio::test(start_paused = true)]
async fn r62_a_reader_who_leaves_in_the_middle_pays_for_the_call() {
    let model = ScriptedModel::new([
        Answer::new().text("half of it").hangs(),
        Answer::new().reports_usage(70, 7).text("half of it").hangs(),
    ]);
    let session = ReplyBudgetControlMiddleware::builder(1_000).per(Per::Session).build().unwrap();
    let mut agent = builder(&model).middleware(session).build().unwrap();
    let mut leave = async || {
        let mut events = agent.reply("Go").stream();
        while let Some(event) = events.next().await {
            if event.event_type() == "TEXT_BLOCK_DELTA" {
                break;
            }
        }
        drop(events);
        spent(&agent, "ReplyBudgetControlMiddleware")["session"].as_u64().unwrap()
    };
    let estimated = leave().await;
    assert!(estimated > 0);
    // What the server has said counts as it is.
    assert_eq!(leave().await, estimated + 77);
}

#[tokio::test(start_paused = true)]
async fn r62_a_call_that_never_reached_the_model_is_free() {
    let model = ScriptedModel::new([""; 0]);
    let session = ReplyBudgetControlMiddleware::builder(1_000).per(Per::Session).build().unwrap();
    let waits = on_model_call(|_cx, _request, next| async move {
        drop(next);
        std::future::pending().await
    });
    let mut agent = builder(&model).middleware(session).middleware(waits).build().unwrap();
    tokio::time::timeout(Duration::from_secs(1), agent.reply("Go")).await.unwrap_err();
    // Nothing, or nothing spent.
    assert_eq!(spent(&agent, "ReplyBudgetControlMiddleware")["session"].as_f64().unwrap_or_default(), 0.0);
}

#[tokio::test(start_paused = true)]
async fn r62_some_tools_may_be_called_all_the_same() {
    let model = ScriptedModel::new([
        Answer::new().tool_call("look", json!({})).usage(60, 60),
        Answer::new().tool_call("save", json!({})).usage(1, 1),
        Answer::new().text("Saved."),
    ]);
    let budget = ReplyBudgetControlMiddleware::builder(100).allow_tools(["save"]).build().unwrap();
    let save = ScriptedTool::echo("save");
    let mut agent = builder(&model)
        .tool(ScriptedTool::echo("look"))
        .tool(save.clone())
        .middleware(budget)
        .build()
        .unwrap();
    assert_eq!(within(agent.reply("Go")).await.unwrap().text().as_deref(), Some("Saved."));
    assert_eq!(save.calls().len(), 1);
    let choice = model.requests()[1].tool_choice.clone().unwrap();
    assert_eq!(choice.tools.unwrap(), ["save"]);
}

#[tokio::test(start_paused = true)]
async fn f01_a_layer_that_comes_while_the_reply_waits_counts_from_zero() {
    let model = ScriptedModel::new([
        Answer::new().tool_call("look", json!({})).usage(10, 5),
        Answer::new().text("Done.").usage(10, 5),
    ]);
    let look = || ScriptedTool::echo("look").asks();
    let mut without = builder(&model).tool(look()).build().unwrap();
    within(without.reply("Go")).await.unwrap();
    let state = from_value(to_value(&*without.state().unwrap()).unwrap()).unwrap();
    let mut with = builder(&model).tool(look()).middleware(budget(100)).state(state).build().unwrap();
    let waiting = with.waiting_for().unwrap();
    let yes = UserConfirmResultEvent::new(
        waiting.reply_id,
        waiting.confirmations.into_iter().map(ConfirmResult::confirm),
    );
    assert_eq!(within(with.reply(yes)).await.unwrap().text().as_deref(), Some("Done."));
    assert_eq!(spent_on_reply(&with), 15);
}

#[tokio::test(start_paused = true)]
async fn f02_two_budgets_need_two_keys_and_count_for_themselves() {
    let script = || {
        ScriptedModel::new([
            Answer::new().tool_call("look", json!({})).usage(30, 30),
            Answer::new().text("Done.").usage(10, 5),
        ])
    };
    let model = script();
    let error =
        builder(&model).middleware(budget(100)).middleware(budget(60)).build().unwrap_err().to_string();
    assert!(error.contains("layers 1 and 2") && error.contains("ReplyBudgetControlMiddleware"), "{error}");

    let model = script();
    let soft = budget(61).keyed("soft");
    let mut agent = builder(&model)
        .tool(ScriptedTool::echo("look"))
        .middleware(budget(100))
        .middleware(soft)
        .build()
        .unwrap();
    within(agent.reply("Go")).await.unwrap();
    // After 60 tokens none of them is spent: each call was counted once.
    assert_eq!(model.requests()[1].tool_choice, None);
    let reply_id = agent.state().unwrap().reply_id().to_string();
    for key in ["ReplyBudgetControlMiddleware", "soft"] {
        assert_eq!(spent(&agent, key)[&reply_id], 75, "{key}");
    }
}

#[tokio::test(start_paused = true)]
async fn f03_a_call_that_a_layer_makes_for_itself_counts() {
    let model = ScriptedModel::new([
        Answer::new().text("the second file").usage(900, 10),
        Answer::new().text("Done.").usage(10, 5),
    ]);
    let selects = on_reply(|cx: cepa_core::Cx<_>, input, next: cepa_core::Next<_>| async move {
        let question = cepa_core::ModelRequest::new([Msg::user("user", "Which file?")]);
        cx.call_model(cepa_core::Purpose::MemorySelection, question).await?;
        next.run(input).await
    });
    let mut agent = builder(&model).middleware(budget(100)).middleware(selects).build().unwrap();
    within(agent.reply("Go")).await.unwrap();
    // The tokens were spent before the reply began its first round, so the model is told at once.
    assert_eq!(hints(&agent), 1);
    let message = agent.state().unwrap().context.last().unwrap().clone();
    assert_eq!(message.usage.as_ref().unwrap().input_tokens, 910);
}

#[tokio::test(start_paused = true)]
async fn f04_without_a_word_from_the_server_an_estimate_counts_and_one_warning_is_logged() {
    let warnings = Logged::warnings("cepa_budget");
    let long = "word ".repeat(100);
    let model = ScriptedModel::new([
        Answer::new().text(long.clone()).tool_call("look", json!({})),
        Answer::new().text("Done."),
    ]);
    let mut agent = builder(&model).tool(ScriptedTool::echo("look")).middleware(budget(100)).build().unwrap();
    within(agent.reply(long)).await.unwrap();
    // 500 bytes in and 500 out are about 250 tokens.
    assert_eq!(model.requests()[1].tool_choice.as_ref().unwrap().mode, ToolChoiceMode::None);
    assert_eq!(hints(&agent), 1);
    assert!(spent_on_reply(&agent).as_u64().unwrap() > 250);
    assert_eq!(warnings.lines().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_a_failed_attempt_has_cost_counts() {
    let fails = cepa_core::ModelError::new(cepa_core::ErrorType::Upstream, "overloaded");
    let model = ScriptedModel::new([
        Answer::new().reports_usage(10, 0).fails(fails),
        Answer::new().text("Done.").usage(10, 5),
    ]);
    let mut agent = builder(&model).model_retries(1).middleware(budget(1000)).build().unwrap();
    let message = within(agent.reply("Go")).await.unwrap();
    assert_eq!(spent_on_reply(&agent), 25);
    let usage = message.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (20, 5));
}
