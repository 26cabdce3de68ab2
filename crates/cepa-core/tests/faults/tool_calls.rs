//! Tools that fail, tools that block, and calls whose ids are not their own.

use std::{
    io,
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

use cepa_core::{
    ErrorKind, Origin, ToolResultState, on_acting,
    serde_json::json,
    testing::{Answer, ScriptedModel, ScriptedTool, ToolAnswer},
    tool,
};

use crate::support::{assert_paired, builder, failure, log, result};

#[tokio::test(start_paused = true)]
async fn r09_an_error_for_the_developer_is_no_success_and_arrives_as_it_is() {
    let breaks = || ToolAnswer::new().fails_for_developer(io::Error::other("no such device"));
    let side_by_side = Answer::new().raw_tool_call("c1", "breaks", "{}").raw_tool_call("c2", "works", "{}");
    for (answer, in_order) in
        [(Answer::new().raw_tool_call("c1", "breaks", "{}"), true), (side_by_side, false)]
    {
        let model = ScriptedModel::new([answer, Answer::new().text("Well.")]);
        let breaking = ScriptedTool::new("breaks", [breaks()]);
        let breaking = if in_order { breaking.one_at_a_time() } else { breaking };
        let works = ScriptedTool::new("works", ["fine"]);
        let mut agent = builder(&model).tool(breaking).tool(works).build().unwrap();
        let log = log(agent.reply("Go")).await;
        log.only(["TOOL_RESULT_END", "REPLY_END"]).assert(match in_order {
            true => vec!["TOOL_RESULT_END error tool_call_id=c1", "REPLY_END error"],
            false => vec![
                "TOOL_RESULT_END error tool_call_id=c1",
                "TOOL_RESULT_END success tool_call_id=c2",
                "REPLY_END error",
            ],
        });
        let error = failure(log.into_outcome());
        assert_eq!(error.downcast_ref::<io::Error>().unwrap().to_string(), "no such device");
        assert_eq!(error.origin(), Origin::Tool);
        let (state, text) = result(&agent, "c1");
        assert_eq!(state, ToolResultState::Error);
        assert!(text.contains("no such device"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn r32_a_tool_that_fails_is_shown_as_failed() {
    let model =
        ScriptedModel::new([Answer::new().raw_tool_call("c1", "look", "{}"), Answer::new().text("Well.")]);
    let look = ScriptedTool::new("look", [ToolAnswer::new().text("half of it").fails("the disk is full")]);
    let mut agent = builder(&model).tool(look).build().unwrap();
    let log = log(agent.reply("Go")).await;
    log.only(["TOOL_RESULT_END", "REPLY_END"]).assert(["TOOL_RESULT_END error", "REPLY_END completed"]);
    let (state, text) = result(&agent, "c1");
    assert_eq!(state, ToolResultState::Error);
    assert!(text.contains("the disk is full"), "{text}");
    assert_paired(&model);
}

#[tokio::test(start_paused = true)]
async fn r34_a_layer_that_fails_around_a_tool_leaves_no_open_call() {
    let model =
        ScriptedModel::new([Answer::new().raw_tool_call("c1", "look", "{}"), Answer::new().text("Well.")]);
    let look = ScriptedTool::new("look", ["unused"]);
    let breaks = on_acting(|_cx, _input, _next| async { Err(cepa_core::Error::other("401")) });
    let mut agent = builder(&model).tool(look.clone()).middleware(breaks).build().unwrap();
    let failed = log(agent.reply("Go")).await;
    failed.only(["TOOL_RESULT_START", "TOOL_RESULT_END", "REPLY_END"]).assert([
        "TOOL_RESULT_START look",
        "TOOL_RESULT_END error",
        "REPLY_END error",
    ]);
    assert!(result(&agent, "c1").1.contains("401"));
    assert_eq!(log(agent.reply("Go on")).await.text(), "Well.");
    assert_paired(&model);
    assert_eq!(look.calls().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn r34_a_tool_whose_schema_is_none_is_refused_when_the_agent_is_built() {
    let look = ScriptedTool::new("look", ["unused"])
        .with_schema(json!({"type": "object", "properties": {"n": {"type": "strng"}}}));
    let model = ScriptedModel::new(["unused"]);
    let error = builder(&model).tool(look).build().unwrap_err().to_string();
    assert!(error.contains("`look`") && error.contains("strng"), "{error}");
}

/// How many of the blocking tools have begun, and whether they may end.
static GATE: (Mutex<(usize, bool)>, Condvar) = (Mutex::new((0, false)), Condvar::new());

/// Blocks its thread until the gate is open.
#[tool]
fn blocks() -> &'static str {
    let mut gate = GATE.0.lock().unwrap_or_else(PoisonError::into_inner);
    gate.0 += 1;
    let patience = Duration::from_secs(20);
    let (gate, _) =
        GATE.1.wait_timeout_while(gate, patience, |gate| !gate.1).unwrap_or_else(PoisonError::into_inner);
    if gate.1 { "through" } else { "locked out" }
}

#[tokio::test]
async fn r55_functions_that_block_run_side_by_side_and_hold_nothing_up() {
    let call = |id: &str| (id.to_owned(), "blocks", "{}");
    let answer = ["c1", "c2"]
        .map(call)
        .into_iter()
        .fold(Answer::new(), |answer, (id, name, input)| answer.raw_tool_call(id, name, input));
    let model = ScriptedModel::new([answer, Answer::new().text("Done.")]);
    let mut permissions = cepa_core::PermissionContext::default();
    permissions.mode = cepa_core::PermissionMode::Bypass;
    let mut agent = builder(&model).permissions(permissions).tool(blocks).build().unwrap();
    // Opens the gate once both wait behind it: on the one thread that also runs the agent.
    let opener = tokio::spawn(async {
        loop {
            {
                let mut gate = GATE.0.lock().unwrap_or_else(PoisonError::into_inner);
                if gate.0 == 2 {
                    gate.1 = true;
                    GATE.1.notify_all();
                    return;
                }
            }
            tokio::task::yield_now().await;
        }
    });
    let text = log(agent.reply("Go")).await.text();
    opener.await.unwrap();
    assert_eq!(text, "Done.");
    for id in ["c1", "c2"] {
        assert_eq!(result(&agent, id), (ToolResultState::Success, "through".to_owned()));
    }
}

#[tokio::test(start_paused = true)]
async fn r56_calls_of_one_id_or_of_none_all_have_their_result() {
    let model = ScriptedModel::new([
        Answer::new().raw_tool_call("call_0", "echo", r#"{"i":1}"#),
        Answer::new().raw_tool_call("call_0", "echo", r#"{"i":2}"#),
        Answer::new().raw_tool_call("", "echo", r#"{"i":3}"#).raw_tool_call("", "echo", r#"{"i":4}"#),
        Answer::new().text("Done."),
    ]);
    let echo = ScriptedTool::echo("echo");
    let mut agent = builder(&model).tool(echo.clone()).build().unwrap();
    assert_eq!(log(agent.reply("Go")).await.text(), "Done.");
    assert_eq!(echo.calls(), [1, 2, 3, 4].map(|i| json!({"i": i})));
    assert_paired(&model);
    let state = agent.state().unwrap();
    let message = state.context.last().unwrap();
    let mut ids: Vec<_> = message.tool_calls().map(|call| call.id.to_string()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4, "{ids:?}");
    assert!(!ids.contains(&String::new()));
    for (call, result) in message.tool_calls().zip(message.tool_results()) {
        assert_eq!((&call.id, &call.input[..]), (&result.id, &*result.output.text()));
    }
}

#[tokio::test(start_paused = true)]
async fn r34_several_failures_of_one_batch_are_all_told() {
    let answer = Answer::new().raw_tool_call("c1", "breaks", "{}").raw_tool_call("c2", "breaks", "{}");
    let model = ScriptedModel::new([answer]);
    let breaks =
        ScriptedTool::answering("breaks", |_| ToolAnswer::new().fails_for_developer("no such device"));
    let mut agent = builder(&model).tool(breaks).build().unwrap();
    let error = failure(log(agent.reply("Go")).await.into_outcome());
    let ErrorKind::Tools(errors) = error.kind() else { panic!("{error}") };
    assert_eq!(errors.len(), 2);
    for id in ["c1", "c2"] {
        assert_eq!(result(&agent, id).0, ToolResultState::Error);
    }
}
