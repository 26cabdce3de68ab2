//! Layers that swallow, and layers that try again.

use cepa_core::{
    ErrorKind, EventKind, Flow, ReactConfig, ToolResultState, on_acting, on_reply,
    testing::{Answer, ScriptedModel, ScriptedTool},
};

use crate::support::{assert_paired, builder, failure, log, result, said};

#[tokio::test(start_paused = true)]
async fn r28_an_end_that_is_swallowed_for_ever_is_an_error() {
    let swallows = on_reply(|_cx, input, next| {
        next.tap_shared(input, |event| match event.kind {
            EventKind::ReplyEnd { .. } => Flow::Drop,
            _ => Flow::Keep,
        })
    });
    let model = ScriptedModel::answering(|_| "Done.");
    let mut react = ReactConfig::default();
    react.max_iters = 2;
    let mut agent = builder(&model).react_config(react).middleware(swallows).build().unwrap();
    let log = log(agent.reply("Go")).await;
    let error = failure(log.into_outcome());
    assert!(matches!(error.kind(), ErrorKind::ReplyEndSwallowedTwice), "{error}");
    assert!(error.to_string().contains("dropped REPLY_END twice"), "{error}");
    // Two rounds and the forced last one.
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn f27_an_answer_without_an_item_is_one_and_an_item_without_an_answer_cannot_be_written() {
    // `on_acting` returns its response by its type: what AgentScope's layers can leave out does not compile here.
    let silent = on_acting(|_cx, _input, _next| async { Ok(cepa_core::ToolResponse::streamed()) });
    let answer = Answer::new().raw_tool_call("c1", "look", "{}");
    let model = ScriptedModel::new([answer, Answer::new().text("Done.")]);
    let mut agent =
        builder(&model).tool(ScriptedTool::new("look", ["unused"])).middleware(silent).build().unwrap();
    assert_eq!(log(agent.reply("Go")).await.text(), "Done.");
    assert_eq!(result(&agent, "c1"), (ToolResultState::Success, String::new()));
    assert_paired(&model);
}

#[tokio::test(start_paused = true)]
async fn f28_a_tool_that_a_layer_runs_twice_has_one_result() {
    let twice = on_acting(|_cx, input: cepa_core::ActingInput, next: cepa_core::Next<_>| async move {
        next.clone().run(input.clone()).await?;
        next.run(input).await
    });
    let answer = Answer::new().raw_tool_call("c1", "look", "{}");
    let model = ScriptedModel::new([answer, Answer::new().text("Well.")]);
    let mut agent =
        builder(&model).tool(ScriptedTool::new("look", ["one", "two"])).middleware(twice).build().unwrap();
    let failed = log(agent.reply("Go")).await;
    failed.only(["TOOL_RESULT_START", "TOOL_RESULT_END", "REPLY_END"]).assert([
        "TOOL_RESULT_START",
        "TOOL_RESULT_END error",
        "REPLY_END error",
    ]);
    let error = failure(failed.into_outcome());
    assert!(matches!(error.kind(), ErrorKind::ItemsAlreadySent), "{error}");
    assert_eq!(result(&agent, "c1").0, ToolResultState::Error);
    log(agent.reply("Go on")).await.into_outcome().unwrap();
    assert_paired(&model);
}

#[tokio::test(start_paused = true)]
async fn f28_a_reply_that_a_layer_runs_twice_takes_its_input_once() {
    let twice = on_reply(|_cx, input: cepa_core::ReplyInput, next: cepa_core::Next<_>| async move {
        match next.clone().run(input.clone()).await {
            Ok(message) => Ok(message),
            Err(_) => next.run(input).await,
        }
    });
    let down = cepa_core::ModelError::new(cepa_core::ErrorType::InvalidRequest, "down");
    let model = ScriptedModel::new([Answer::from(down), Answer::new().text("Done.")]);
    let mut agent = builder(&model).middleware(twice).build().unwrap();
    let log = log(agent.reply("Go")).await;
    log.only(["REPLY_START", "REPLY_END"]).assert(["REPLY_START", "REPLY_END completed"]);
    assert_eq!(said(&agent), ["Go", "Done."]);
}
