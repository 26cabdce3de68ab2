//! Spans of what fails, is cut off, comes from elsewhere, or is asked by the library itself.

use cepa_conformance::CallRecord;
use serde_json::{Value, json};

use crate::support::{case, result, run};

/// Each span as its name, its parent's name and its status.
fn tree(call: &CallRecord) -> Vec<(&str, Option<&str>, &str)> {
    let spans = call.spans();
    assert!(spans.iter().all(|span| span["trace"] == "trace1"), "{spans:#?}");
    let parent = |span: &Value| span["parent"].as_u64().map(|parent| &spans[parent as usize]);
    let rows = spans.iter().map(|span| {
        let parent = parent(span).and_then(|parent| parent["name"].as_str());
        (span["name"].as_str().unwrap(), parent, span["status"].as_str().unwrap())
    });
    rows.collect()
}

/// The one span of this name.
#[track_caller]
fn span<'a>(call: &'a CallRecord, name: &str) -> &'a Value {
    let spans: Vec<_> = call.spans().iter().filter(|span| span["name"] == name).collect();
    assert_eq!(spans.len(), 1, "{spans:#?}");
    spans[0]
}

/// What went into a model call: the role and the parts of each message.
fn asked(span: &Value) -> Vec<(&str, &Value)> {
    let messages = span["attributes"]["gen_ai.input.messages"]["json"].as_array().unwrap();
    messages.iter().map(|message| (message["role"].as_str().unwrap(), &message["parts"])).collect()
}

const REPLY: &str = "invoke_agent Friday";
const CHAT: &str = "chat mock-main";

#[test]
fn tracing__as_inner_layer() {
    let recording = run(case("tracing/as_inner_layer"));
    let reply = recording.call(0);
    // The layer outside of it answers: the tool does not run.
    assert_eq!(tree(reply), [(REPLY, None, "OK"), (CHAT, Some(REPLY), "OK"), (CHAT, Some(REPLY), "OK")]);
    let tool_events: Vec<_> =
        reply.event_types().into_iter().filter(|kind| kind.starts_with("TOOL_RESULT")).collect();
    assert_eq!(tool_events, ["TOOL_RESULT_START", "TOOL_RESULT_TEXT_DELTA", "TOOL_RESULT_END"]);
    assert_eq!(reply.deltas("TOOL_RESULT_TEXT_DELTA"), "cached");
    assert_eq!(result(reply, "t1"), ("success", "cached".to_owned()));
}

#[test]
fn tracing__cancelled_in_tool() {
    let recording = run(case("tracing/cancelled_in_tool"));
    let reply = recording.call(0);
    assert_eq!(reply.finished_reason(), Some("interrupted"));
    let tool = "execute_tool f";
    // Nobody's failure but the tool's: the person wanted the reply to end.
    assert_eq!(
        tree(reply),
        [(REPLY, None, "UNSET"), (CHAT, Some(REPLY), "OK"), (tool, Some(REPLY), "ERROR")]
    );
    let tool = span(reply, tool);
    assert_eq!(tool["attributes"]["cepa.cancelled"], true);
    assert_eq!(tool["attributes"]["error.type"], "cancelled");
    assert_eq!(tool["exceptions"], json!([]));
    let reply = span(reply, REPLY);
    assert_eq!(reply["attributes"]["cepa.cancelled"], true);
    assert_eq!(reply["attributes"]["gen_ai.output.messages"]["json"][0]["finish_reason"], "interrupted");
}

#[test]
fn tracing__compression_has_no_span() {
    let recording = run(case("tracing/compression_has_no_span"));
    let reply = recording.call(0);
    assert_eq!(tree(reply), [(REPLY, None, "OK"), (CHAT, Some(REPLY), "OK"), (CHAT, Some(REPLY), "OK")]);
    let purposes: Vec<_> =
        reply.spans().iter().map(|span| &span["attributes"]["cepa.model_call.purpose"]).collect();
    assert_eq!(purposes, [&Value::Null, &json!("summary"), &Value::Null]);
    // The answer is made of what the call before has summed up.
    assert_eq!(
        asked(&reply.spans()[2])[1],
        ("user", &json!([{"type": "text", "content": "SUMMARY[short]"}]))
    );
}

#[test]
fn tracing__external() {
    let recording = run(case("tracing/external"));
    let (parked, resumed) = (recording.call(0), recording.call(1));
    assert_eq!(
        span(parked, REPLY)["attributes"]["agentscope.agent.external_execution_pending_tools"]["json"],
        json!(["e"])
    );
    let tool = "execute_tool e";
    assert_eq!(tree(resumed), [(REPLY, None, "OK"), (tool, Some(REPLY), "OK"), (CHAT, Some(REPLY), "OK")]);
    let attributes = &span(resumed, tool)["attributes"];
    assert_eq!(attributes["agentscope.agent.is_external_execution"], true);
    assert_eq!(attributes["gen_ai.tool.call.result"]["json"], "R");
    assert_eq!(attributes["error.type"], Value::Null);
}

#[test]
fn tracing__external_failed() {
    let recording = run(case("tracing/external_failed"));
    let resumed = recording.call(1);
    let tool = "execute_tool e";
    assert_eq!(tree(resumed), [(REPLY, None, "OK"), (tool, Some(REPLY), "ERROR"), (CHAT, Some(REPLY), "OK")]);
    let tool = span(resumed, tool);
    assert_eq!(tool["status_description"], "bad");
    assert_eq!(tool["attributes"]["error.type"], "tool_error");
    assert_eq!(tool["attributes"]["gen_ai.tool.call.result"]["json"], "bad");
}

#[test]
fn tracing__hint_in_context() {
    let recording = run(case("tracing/hint_in_context"));
    let reply = recording.call(0);
    assert_eq!(tree(reply), [(REPLY, None, "OK"), (CHAT, Some(REPLY), "OK")]);
    let text = |text: &str| json!([{"type": "text", "content": text}]);
    let hint = text("KB[[1] (source: a.txt)\nalpha\n\n[2] (source: b.txt)\nbeta]");
    let expected = [("system", &text("SYS")), ("user", &text("hi")), ("user", &hint)];
    assert_eq!(asked(&reply.spans()[1]), expected);
    // It is told apart from what the person said.
    let messages = &reply.spans()[1]["attributes"]["gen_ai.input.messages"]["json"];
    assert_eq!(messages[2]["name"], r#"{"label": "KnowledgeBase", "sublabel": ""}"#);
}

#[test]
fn tracing__structured() {
    let recording = run(case("tracing/structured"));
    let reply = recording.call(0);
    assert_eq!(tree(reply)[..2], [(REPLY, None, "OK"), (CHAT, Some(REPLY), "OK")]);
    let messages = asked(&reply.spans()[1]);
    assert!(messages.iter().all(|(_, parts)| !parts.as_array().unwrap().is_empty()), "{messages:?}");
    // What the model is told of the tool to answer with is a hint.
    let last = messages[messages.len() - 1];
    assert_eq!(last, ("user", &json!([{"type": "text", "content": "<<hint:structured_output>>"}])));
    assert_eq!(span(reply, REPLY)["attributes"]["gen_ai.output.type"], "json");
}

#[test]
fn tracing__tool_error() {
    let recording = run(case("tracing/tool_error"));
    let reply = recording.call(0);
    let tool = "execute_tool f";
    let (chat, tool_row) = ((CHAT, Some(REPLY), "OK"), (tool, Some(REPLY), "ERROR"));
    assert_eq!(tree(reply), [(REPLY, None, "OK"), chat, tool_row, chat]);
    let tool = span(reply, tool);
    assert_eq!(tool["status_description"], "disk full");
    assert_eq!(tool["attributes"]["error.type"], "tool_error");
    let result = &tool["attributes"]["gen_ai.tool.call.result"]["json"];
    assert_eq!((&result["state"], &result["content"][0]["text"]), (&json!("error"), &json!("disk full")));
}
