use std::{future::IntoFuture, sync::Arc, time::Duration};

use cepa_core::{
    BoxFuture, ChatChunk, ChatModel, ChatResponse, ConfirmResult, ErrorKind, ErrorType, ModelOutlet,
    ModelRequest, ReasoningInput, ReplyFinishedReason, Result, ToolResultState, UserConfirmResultEvent,
    on_model_call, on_reasoning, on_reply,
    serde_json::json,
    testing::{Answer, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_resilience::{AtReplyLimit, ModelFallback, ModelRetry, ModelTimeout, Timeout, TimeoutBuilder};
use tokio::time::Instant;

use super::support::{SECOND, builder, log, within};

fn limits() -> TimeoutBuilder {
    Timeout::builder()
}

/// What a model call that is too late says.
async fn lateness(answer: Answer, limits: TimeoutBuilder) -> (String, u64) {
    let model = ScriptedModel::new([answer]);
    let mut agent = builder(&model).middleware(limits.build().unwrap()).build().unwrap();
    let start = Instant::now();
    let error = within(agent.reply("Hi")).await.unwrap_err();
    let ErrorKind::Model(model_error) = error.kind() else { panic!("{error}") };
    assert!(model_error.retryable && model_error.kind == ErrorType::Connection);
    let late = model_error.source.as_ref().unwrap().downcast_ref::<ModelTimeout>().unwrap();
    (late.to_string(), start.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn a_model_call_that_is_late_says_with_what() {
    let whole = "the answer took longer than 30s".to_owned();
    let drips = (0..100).fold(Answer::new(), |answer, _| answer.text("drip ").delay(SECOND));
    assert_eq!(lateness(drips, limits().model_call(30 * SECOND)).await, (whole, 30));
    let first = "the first part of the answer took longer than 5s".to_owned();
    let silent = Answer::new().delay(60 * SECOND).text("Hm");
    assert_eq!(lateness(silent, limits().first_item(5 * SECOND).idle(SECOND)).await, (first, 5));
    let idle = "the next part of the answer took longer than 3s".to_owned();
    let stuck = || Answer::new().delay(10 * SECOND).texts(["Once ", "upon "]).hangs();
    let both = limits().first_item(20 * SECOND).idle(3 * SECOND);
    assert_eq!(lateness(stuck(), both).await, (idle.clone(), 13));
    assert_eq!(lateness(stuck(), limits().idle(3 * SECOND)).await, (idle, 3));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_is_slow_and_steady_is_not_late() {
    let drips = (0..100).fold(Answer::new(), |answer, _| answer.delay(2 * SECOND).text("drip "));
    let model = ScriptedModel::new([drips]);
    let limit = limits().idle(3 * SECOND).first_item(3 * SECOND).build().unwrap();
    let mut agent = builder(&model).middleware(limit).build().unwrap();
    assert_eq!(log(agent.reply("Hi")).await.text(), "drip ".repeat(100));
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_is_not_the_models_fault() {
    let drips = (0..20).fold(Answer::new(), |answer, _| answer.text("drip ").delay(SECOND));
    let model = ScriptedModel::new([drips]);
    let limit = limits().idle(3 * SECOND).model_call(30 * SECOND).build().unwrap();
    let mut agent = builder(&model).middleware(limit).build().unwrap();
    let mut stream = agent.reply("Hi").stream();
    while stream.next().await.is_some() {
        tokio::time::sleep(10 * SECOND).await;
    }
    stream.finish().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_hanging_model_is_tried_again_and_then_left_for_another() {
    let hangs = ScriptedModel::answering(|_| Answer::new().hangs()).named("first");
    let well = ScriptedModel::new(["Hello"]).named("second");
    let mut agent = builder(&hangs)
        .middleware(ModelFallback::builder().model(well).build().unwrap())
        .middleware(ModelRetry::default())
        .middleware(limits().first_item(5 * SECOND).build().unwrap())
        .build()
        .unwrap();
    assert_eq!(log(agent.reply("Hi")).await.text(), "Hello");
    assert_eq!(hangs.requests().len(), 3);
}

/// Sends a piece every millisecond, for ever.
#[derive(Clone, Debug)]
struct Flood;

impl ChatModel for Flood {
    fn name(&self) -> &str {
        "flood"
    }
    fn context_size(&self) -> u64 {
        32_768
    }
    fn call(&self, _request: ModelRequest, out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
        Box::pin(async move {
            loop {
                out.emit(ChatChunk::text("drip ")).await;
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_never_ends_is_cut_off() {
    let mut agent = builder(&Flood)
        .middleware(limits().model_call(SECOND).idle(SECOND).build().unwrap())
        .build()
        .unwrap();
    let log = log(agent.reply("Hi")).await;
    assert!(log.text().len() <= 1_001 * 5, "{}", log.text().len());
    log.assert(["...", "TEXT_BLOCK_END", "REPLY_END error"]);

    // Also by the time for the reply, which ends with what there is.
    let mut agent = builder(&Flood).middleware(limits().reply(SECOND).build().unwrap()).build().unwrap();
    let message = within(agent.reply("Hi")).await.unwrap();
    assert_eq!(message.finished_reason, Some(ReplyFinishedReason::Completed));
    assert!(message.text().unwrap().starts_with("drip drip "));
}

#[tokio::test(start_paused = true)]
async fn the_model_is_told_of_a_tool_that_took_too_long() {
    let model = ScriptedModel::new([
        Answer::new().tool_call("quick", json!({})).tool_call("slow", json!({})),
        "Done".into(),
    ]);
    let slow = ScriptedTool::new("slow", [ToolAnswer::new().text("10 %").delay(3600 * SECOND).text("100 %")]);
    let quick = ScriptedTool::new("quick", [ToolAnswer::new().delay(20 * SECOND).text("seen")]);
    let limit = limits().tool_calls(10 * SECOND).tool("quick", 30 * SECOND).build().unwrap();
    let mut agent = builder(&model).tool(slow).tool(quick).middleware(limit).build().unwrap();
    let log = log(agent.reply("Go")).await;
    log.only(["TOOL_RESULT_END", "REPLY_END"]).assert([
        "TOOL_RESULT_END error metadata.timeout_s=10.0",
        "TOOL_RESULT_END success",
        "REPLY_END completed",
    ]);
    let request = &model.requests()[1];
    let results: Vec<_> = request.messages.iter().flat_map(|msg| msg.tool_results()).collect();
    let slow = results.iter().find(|result| &*result.name == "slow").unwrap();
    assert_eq!(slow.state, ToolResultState::Error);
    assert_eq!(
        slow.output.text(),
        "10 %The tool `slow` was stopped: it took longer than 10 seconds. What it had done by then may stand."
    );
}

#[tokio::test(start_paused = true)]
async fn a_reply_whose_time_is_up_ends_with_what_was_said() {
    let ends = |answer: Answer| async move {
        let model = ScriptedModel::new([answer]);
        let hangs = ScriptedTool::answering("hangs", |_| ToolAnswer::new().text("10 %").hangs());
        let limit = limits().reply(60 * SECOND).build().unwrap();
        let mut agent = builder(&model).tool(hangs).middleware(limit).build().unwrap();
        let start = Instant::now();
        let log = log(agent.reply("Go")).await;
        assert_eq!(start.elapsed(), 60 * SECOND);
        assert_eq!(model.requests().len(), 1);
        log.only(["CUSTOM", "REPLY_END"])
            .assert(["CUSTOM reply_timeout value.limit_s=60.0", "REPLY_END completed"]);
        (log, agent)
    };
    // In the middle of the answer, before it, in a tool, and with a call that never came to its end.
    let (log, _) = ends(Answer::new().text("Once upon").hangs()).await;
    assert_eq!(log.into_outcome().unwrap().text().as_deref(), Some("Once upon"));
    let (log, _) = ends(Answer::new().hangs()).await;
    assert_eq!(log.text(), "My time for this reply is up before I could answer.");
    let (log, agent) = ends(Answer::new().text("I look.").tool_call("hangs", json!({}))).await;
    log.only(["TOOL_RESULT_END"]).assert(["TOOL_RESULT_END error"]);
    assert_eq!(log.into_outcome().unwrap().text().as_deref(), Some("I look."));
    let state = agent.state().unwrap();
    let result = state.context.iter().flat_map(|msg| msg.tool_results()).next().unwrap();
    assert!(result.output.text().contains("the time for this reply is up"), "{}", result.output.text());
    let (log, agent) =
        ends(Answer::new().text("I look.").raw_tool_call("1", "hangs", "{\"for\": ").hangs()).await;
    log.only(["TOOL_RESULT_END"]).assert(["TOOL_RESULT_END error"]);
    assert!(agent.waiting_for().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_reply_whose_time_is_up_fails_where_that_is_wanted() {
    for answer in [Answer::new().text("Hm").hangs(), Answer::new().tool_call("hangs", json!({}))] {
        let model = ScriptedModel::new([answer]);
        let hangs = ScriptedTool::answering("hangs", |_| ToolAnswer::new().hangs());
        let limit = limits().reply(60 * SECOND).at_reply_limit(AtReplyLimit::Error).build().unwrap();
        let mut agent =
            builder(&model).tool(hangs).middleware(ModelRetry::default()).middleware(limit).build().unwrap();
        let log = log(agent.reply("Go")).await;
        log.only(["CUSTOM", "REPLY_END"]).assert(["REPLY_END error"]);
        let error = log.into_outcome().unwrap_err();
        let ErrorKind::Timeout { what, limit } = error.kind() else { panic!("{error}") };
        assert_eq!((&**what, *limit), ("the reply", 60 * SECOND));
        assert_eq!(model.requests().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_not_tried_again_when_the_time_for_the_reply_is_up() {
    for at in [AtReplyLimit::End, AtReplyLimit::Error] {
        let model = ScriptedModel::new([Answer::new().tool_call("hangs", json!({}))]);
        let hangs = ScriptedTool::answering("hangs", |_| ToolAnswer::new().hangs()).idempotent();
        let limit = limits().reply(60 * SECOND).at_reply_limit(at).build().unwrap();
        let mut agent = builder(&model)
            .tool(hangs.clone())
            .middleware(cepa_resilience::ToolRetry::default())
            .middleware(limit)
            .build()
            .unwrap();
        let start = Instant::now();
        assert_eq!(within(agent.reply("Go")).await.is_ok(), at == AtReplyLimit::End);
        assert_eq!((start.elapsed(), hangs.calls().len()), (60 * SECOND, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn what_ignores_that_the_time_is_up_is_dropped() {
    let model = ScriptedModel::new(["Hello"]);
    let hangs = on_reply(|_cx, input, next: cepa_core::Next<_>| async move {
        next.run(input).await?;
        std::future::pending().await
    });
    let limit = limits().reply(60 * SECOND).build().unwrap();
    let mut agent = builder(&model).middleware(limit).middleware(hangs).build().unwrap();
    let start = Instant::now();
    let error = within(agent.reply("Hi")).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Timeout { .. }), "{error}");
    assert_eq!(start.elapsed(), 61 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_round_has_a_limit_over_all_its_attempts() {
    let model = ScriptedModel::answering(|_| {
        Answer::new().delay(20 * SECOND).fails(cepa_core::ModelError::new(ErrorType::Upstream, "no"))
    });
    let retry = ModelRetry::builder().attempts(100).deadline(3600 * SECOND).build().unwrap();
    let limit = limits().reasoning(50 * SECOND).build().unwrap();
    let mut agent = builder(&model).middleware(retry).middleware(limit).build().unwrap();
    let start = Instant::now();
    let error = within(agent.reply("Hi")).await.unwrap_err();
    let ErrorKind::Timeout { what, .. } = error.kind() else { panic!("{error}") };
    assert_eq!((&**what, start.elapsed().as_secs()), ("a round of the reply", 50));

    // Each round has its own.
    let call = || Answer::new().delay(40 * SECOND).tool_call("look", json!({}));
    let model = ScriptedModel::new([call(), call(), "Done".into()]);
    let limit = limits().reasoning(50 * SECOND).build().unwrap();
    let mut agent = builder(&model).tool(ScriptedTool::echo("look")).middleware(limit).build().unwrap();
    within(agent.reply("Hi")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_round_that_a_layer_gave_up_and_runs_again_has_its_whole_time() {
    let model = ScriptedModel::new([Answer::new().hangs(), Answer::new().delay(40 * SECOND).text("Done")]);
    let gives_up = on_reasoning(|_cx, input: ReasoningInput, next: cepa_core::Next<_>| async move {
        match tokio::time::timeout(30 * SECOND, next.clone().run(input.clone())).await {
            Ok(message) => message,
            Err(_) => next.run(input).await,
        }
    });
    let limit = limits().reasoning(50 * SECOND).build().unwrap();
    let mut agent = builder(&model).middleware(gives_up).middleware(limit).build().unwrap();
    assert_eq!(within(agent.reply("Hi")).await.unwrap().text().as_deref(), Some("Done"));
}

#[tokio::test(start_paused = true)]
async fn the_time_in_which_a_person_is_waited_for_does_not_count() {
    let call = || Answer::new().delay(40 * SECOND).tool_call("look", json!({}));
    let model = ScriptedModel::new([call(), Answer::new().delay(40 * SECOND).text("Done")]);
    let limit = limits().reply(60 * SECOND).build().unwrap();
    let mut agent =
        builder(&model).tool(ScriptedTool::echo("look").asks()).middleware(limit).build().unwrap();
    within(agent.reply("Go")).await.unwrap();
    let waiting = agent.waiting_for().unwrap();
    tokio::time::sleep(3600 * SECOND).await;
    let yes = waiting.confirmations.into_iter().map(ConfirmResult::confirm);
    let yes = UserConfirmResultEvent::new(waiting.reply_id, yes);
    assert_eq!(within(agent.reply(yes)).await.unwrap().text().as_deref(), Some("Done"));
}

#[tokio::test(start_paused = true)]
async fn a_layer_that_answers_itself_is_in_time() {
    let model = ScriptedModel::new(Vec::<Answer>::new());
    let cached = on_model_call(|_cx, _request, next| {
        drop(next);
        async { Ok(ChatResponse::own_text("Cached")) }
    });
    let limit = Arc::new(limits().model_call(SECOND).build().unwrap());
    let mut agent = builder(&model).middleware(limit).middleware(cached).build().unwrap();
    assert_eq!(within(agent.reply("Hi").into_future()).await.unwrap().text().as_deref(), Some("Cached"));
}

#[test]
fn limits_that_cannot_be_say_why() {
    let error = |builder: TimeoutBuilder| builder.build().unwrap_err().to_string();
    assert_eq!(error(limits()), "`reply` is not given, but must be given, or another limit must");
    let forever = limits().tool("look", Duration::MAX);
    assert!(error(forever).starts_with("`tool` is "));
}
