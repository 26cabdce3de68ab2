//! Limits on calls against models and tools that would go on for ever.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

use std::sync::Arc;

use cepa_core::{
    Agent, AgentBuilder, ConfirmResult, ErrorType, GENERATE_STRUCTURED_OUTPUT, InjectionConfig, ModelError,
    ModelRequest, Msg, Purpose, ToolChoiceMode, ToolResultState, UserConfirmResultEvent, on_reply,
    serde_json::{Value, from_value, json, to_value},
    testing::{Answer, EventLog, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_resilience::{AtLimit, Backoff, LimitPer, LimitReached, ModelCallLimit, ToolCallLimit, ToolRetry};
use proptest::prelude::*;

fn builder(model: &ScriptedModel) -> AgentBuilder {
    let mut injection = InjectionConfig::default();
    injection.inject_runtime_state = false;
    Agent::builder("Friday").model(model.clone()).injection_config(injection)
}

/// Looks for ever, whatever it is told; says what it knows with its calls.
fn insists() -> ScriptedModel {
    ScriptedModel::answering(|_| Answer::new().text("Looking.").tool_call("look", json!({})))
}

/// Looks until it may not any more.
fn obeys() -> ScriptedModel {
    ScriptedModel::answering(|request| match &request.tool_choice {
        Some(choice) if choice.mode == ToolChoiceMode::None => Answer::new().text("Enough."),
        _ => Answer::new().tool_call("look", json!({})),
    })
}

/// The results of the tool calls in the last message: state and text.
fn results(agent: &Agent) -> Vec<(ToolResultState, String)> {
    let state = agent.state().unwrap();
    let content = &state.context.last().unwrap().content;
    let results = content.iter().filter_map(|block| block.as_tool_result());
    results.map(|result| (result.state, result.output.text().into_owned())).collect()
}

fn last_hint(request: &ModelRequest) -> String {
    request.messages.last().unwrap().text().unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn the_last_call_is_told_and_has_no_tools() {
    for model in [obeys(), insists()] {
        let limit = ModelCallLimit::builder().per_reply(4).build().unwrap();
        let look = ScriptedTool::echo("look");
        let mut agent = builder(&model).tool(look.clone()).middleware(limit).build().unwrap();
        let log = EventLog::of(agent.reply("Go")).await;
        log.assert(["...", "REPLY_END completed"]);
        let requests = model.requests();
        assert_eq!((requests.len(), look.calls().len()), (4, 3));
        assert_eq!(requests[2].tool_choice, None);
        assert_eq!(requests[3].tool_choice.as_ref().unwrap().mode, ToolChoiceMode::None);
        assert!(last_hint(&requests[3]).contains("limit of 4 per reply"), "{}", last_hint(&requests[3]));
        // The next reply has all of its calls.
        agent.reply("Go").await.unwrap();
        assert_eq!(model.requests().len(), 8);
    }
}

#[tokio::test(start_paused = true)]
async fn further_attempts_of_the_agent_count_and_never_exceed_the_limit() {
    let busy = || ModelError::new(ErrorType::Upstream, "busy");
    let model = ScriptedModel::answering(move |_| Answer::new().fails(busy()));
    let limit = ModelCallLimit::builder().per_reply(3).at_limit(AtLimit::End).build().unwrap();
    let mut agent = builder(&model).model_retries(10).middleware(limit).build().unwrap();
    agent.reply("Go").await.unwrap();
    assert_eq!(model.requests().len(), 3);

    let limit = ModelCallLimit::builder().per_reply(3).at_limit(AtLimit::Error).build().unwrap();
    let mut agent = builder(&model).model_retries(10).middleware(limit).build().unwrap();
    let error = agent.reply("Go").await.unwrap_err();
    let reached = error.downcast_ref::<LimitReached>().unwrap();
    assert_eq!((reached.limit, reached.per, reached.model), (3, LimitPer::Reply, true));
    assert_eq!(model.requests().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_its_replies_without_a_model_call() {
    let model = obeys();
    let limit = ModelCallLimit::builder().per_session(3).at_limit(AtLimit::End).build().unwrap();
    let mut agent = builder(&model).tool(ScriptedTool::echo("look")).middleware(limit).build().unwrap();
    agent.reply("Go").await.unwrap();
    let saved = from_value(to_value(&*agent.state().unwrap()).unwrap()).unwrap();
    let limit = ModelCallLimit::builder().per_session(3).at_limit(AtLimit::End).build().unwrap();
    let mut later =
        builder(&model).tool(ScriptedTool::echo("look")).middleware(limit).state(saved).build().unwrap();
    EventLog::of(later.reply("Go on")).await.assert(["REPLY_START", "REPLY_END completed"]);
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn calls_of_layers_count_and_the_last_one_is_kept_for_the_answer() {
    let asks = on_reply(|cx: cepa_core::Cx<_>, input, next: cepa_core::Next<_>| async move {
        let question = || ModelRequest::new([Msg::user("user", "Which?")]);
        cx.call_model(Purpose::MemorySelection, question()).await?;
        let refused = cx.call_model(Purpose::MemorySelection, question()).await.unwrap_err();
        assert!(refused.downcast_ref::<LimitReached>().is_some());
        next.run(input).await
    });
    let model = ScriptedModel::new(["That one.", "Hello."]);
    let limit = ModelCallLimit::builder().per_reply(2).build().unwrap();
    let mut agent = builder(&model).middleware(limit).middleware(asks).build().unwrap();
    assert_eq!(agent.reply("Go").await.unwrap().text().as_deref(), Some("Hello."));
}

#[tokio::test(start_paused = true)]
async fn a_structured_output_that_is_owed_is_handed_over_with_the_last_call() {
    let model = ScriptedModel::answering(|request| match &request.tool_choice {
        None => Answer::new().tool_call("look", json!({})),
        Some(_) => Answer::new().tool_call(GENERATE_STRUCTURED_OUTPUT, json!({"n": 1})),
    });
    let limit = ModelCallLimit::builder().per_reply(2).build().unwrap();
    let mut agent = builder(&model).tool(ScriptedTool::echo("look")).middleware(limit).build().unwrap();
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let message = agent.reply("Go").schema(schema).await.unwrap();
    assert_eq!(Value::Object(message.structured_output.unwrap()), json!({"n": 1}));
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_tool_has_its_own_limit_and_calls_side_by_side_keep_it() {
    let calls = (0..20).fold(Answer::new(), |answer, n| answer.tool_call("look", json!({"n": n})));
    let model = ScriptedModel::new([calls.tool_call("save", json!({})), Answer::new().text("Done.")]);
    let (look, save) = (ScriptedTool::echo("look"), ScriptedTool::echo("save"));
    let limit = ToolCallLimit::builder().tool_per_reply("look", 7).build().unwrap();
    let mut agent = builder(&model).tool(look.clone()).tool(save.clone()).middleware(limit).build().unwrap();
    agent.reply("Go").await.unwrap();
    assert_eq!((look.calls().len(), save.calls().len()), (7, 1));
    let results = results(&agent);
    let refused = results.iter().filter(|(state, _)| *state == ToolResultState::Error);
    assert_eq!(refused.clone().count(), 13);
    assert!(refused.clone().all(|(_, text)| text.contains("limit of 7 calls of tool `look` per reply")));
}

#[tokio::test(start_paused = true)]
async fn all_tools_together_end_the_reply_or_fail_it() {
    let agent = |model: &ScriptedModel, at_limit, look: &ScriptedTool| {
        let limit = ToolCallLimit::builder().per_reply(2).at_limit(at_limit).build().unwrap();
        builder(model).tool(look.clone()).middleware(limit).build().unwrap()
    };
    let (model, look) = (insists(), ScriptedTool::echo("look"));
    let mut ended = agent(&model, AtLimit::End, &look);
    let log = EventLog::of(ended.reply("Go")).await;
    log.assert(["...", "TOOL_RESULT_END error", "REPLY_END completed"]);
    assert_eq!((model.requests().len(), look.calls().len()), (3, 2));
    // The next one is not ended by it.
    ended.reply("Go").await.unwrap();
    assert_eq!((model.requests().len(), look.calls().len()), (6, 4));

    let (model, look) = (insists(), ScriptedTool::echo("look"));
    let mut failed = agent(&model, AtLimit::Error, &look);
    let error = failed.reply("Go").await.unwrap_err();
    assert_eq!(
        error.downcast_ref::<LimitReached>().unwrap().to_string(),
        "the limit of 2 tool calls per reply is reached"
    );
    assert_eq!(results(&failed).len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_paused_reply_goes_on_counting_in_another_process() {
    let model = ScriptedModel::new([
        Answer::new().tool_call("look", json!({})),
        Answer::new().tool_call("look", json!({})).tool_call("ask", json!({})),
        Answer::new().tool_call("look", json!({})),
        Answer::new().text("Done."),
    ]);
    let look = ScriptedTool::echo("look");
    let agent = || {
        let limit = ToolCallLimit::builder().tool_per_session("look", 2).build().unwrap();
        builder(&model).tool(look.clone()).tool(ScriptedTool::echo("ask").asks()).middleware(limit)
    };
    let mut first = agent().build().unwrap();
    first.reply("Go").await.unwrap();
    let saved = from_value(to_value(&*first.state().unwrap()).unwrap()).unwrap();
    let mut second = agent().state(saved).build().unwrap();
    let waiting = second.waiting_for().unwrap();
    let yes = waiting.confirmations.into_iter().map(ConfirmResult::confirm);
    second.reply(UserConfirmResultEvent::new(waiting.reply_id, yes)).await.unwrap();
    assert_eq!(look.calls().len(), 2);
    assert!(results(&second).iter().any(|(_, text)| text.contains("per session")));
}

#[tokio::test(start_paused = true)]
async fn attempts_of_a_retry_outside_count_and_a_refusal_is_not_tried_again() {
    let model = ScriptedModel::new([Answer::new().tool_call("look", json!({})), Answer::new().text("No.")]);
    let look = ScriptedTool::answering("look", |_| ToolAnswer::new().fails("busy")).idempotent();
    let retry = ToolRetry::builder().attempts(10).backoff(Backoff::default()).build().unwrap();
    let limit = ToolCallLimit::builder().tool_per_reply("look", 2).build().unwrap();
    let mut agent = builder(&model).tool(look.clone()).middleware(retry).middleware(limit).build().unwrap();
    agent.reply("Go").await.unwrap();
    assert_eq!(look.calls().len(), 2);
    let (state, text) = results(&agent).remove(0);
    assert_eq!(state, ToolResultState::Error);
    assert!(text.contains("limit of 2 calls") && !text.contains("busy"), "{text}");
}

#[test]
fn limits_that_cannot_be_say_why() {
    let error = ModelCallLimit::builder().build().unwrap_err().to_string();
    assert_eq!(error, "`per_reply` is not set, but must be set, or `per_session`");
    let error = ModelCallLimit::builder().per_session(0).build().unwrap_err().to_string();
    assert_eq!(error, "`per_session` is 0, but must be at least 1");
    assert!(ToolCallLimit::builder().build().is_err());
    assert!(ToolCallLimit::builder().tool_per_reply("rm", 0).build().is_ok());
}

#[tokio::test]
async fn one_layer_serves_many_agents_and_each_has_its_own_limit() {
    let limit = Arc::new(ModelCallLimit::builder().per_reply(3).build().unwrap());
    let runs = (0..1000).map(|_| {
        let limit = limit.clone();
        tokio::spawn(async move {
            let model = obeys();
            let mut agent =
                builder(&model).tool(ScriptedTool::echo("look")).middleware(limit).build().unwrap();
            agent.reply("Go").await.unwrap();
            model.requests().len()
        })
    });
    for run in runs.collect::<Vec<_>>() {
        assert_eq!(run.await.unwrap(), 3);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// However a model behaves, the limits hold and the state is valid: each call has its result.
    #[test]
    fn the_limits_hold_whatever_the_model_does(
        script in prop::collection::vec(0_usize..5, 1..30),
        replies in 1_usize..4, per_reply in 1_u64..6, per_session in 1_u64..12,
        tools in 0_u64..6, at in 0_usize..3,
    ) {
        let at_limit = [AtLimit::Continue, AtLimit::End, AtLimit::Error][at];
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let step = Arc::new(std::sync::atomic::AtomicUsize::new(0));
            let model = ScriptedModel::answering(move |_| {
                let at = step.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                match script[at % script.len()] {
                    0 => Answer::new().text("Done."),
                    1 => Answer::new().fails(ModelError::new(ErrorType::Upstream, "busy")),
                    2 => Answer::new().text("Half").fails(ModelError::new(ErrorType::Upstream, "reset")),
                    n => (2..n).fold(Answer::new(), |answer, _| answer.tool_call("look", json!({}))),
                }
            });
            let look = ScriptedTool::echo("look");
            let models = ModelCallLimit::builder().per_reply(per_reply).per_session(per_session);
            let calls = ToolCallLimit::builder().tool_per_reply("look", tools).at_limit(at_limit);
            let mut agent = builder(&model)
                .model_retries(1)
                .tool(look.clone())
                .middleware(models.at_limit(at_limit).build().unwrap())
                .middleware(calls.build().unwrap())
                .build()
                .unwrap();
            for _ in 0..replies {
                let (before, called) = (model.requests().len(), look.calls().len());
                _ = agent.reply("Go").await;
                assert!(model.requests().len() - before <= per_reply as usize);
                assert!(look.calls().len() - called <= tools as usize);
            }
            assert!(model.requests().len() <= per_session as usize);
            let state = agent.state().unwrap();
            for message in &state.context {
                let ids = |of: fn(&cepa_core::ContentBlock) -> Option<&cepa_core::Id>| {
                    message.content.iter().filter_map(of).cloned().collect::<Vec<_>>()
                };
                let called = ids(|block| block.as_tool_call().map(|call| &call.id));
                let ended = ids(|block| block.as_tool_result().map(|result| &result.id));
                assert_eq!(called, ended);
            }
        });
    }
}
