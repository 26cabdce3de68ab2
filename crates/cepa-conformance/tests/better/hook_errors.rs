//! Layers that fail.

use cepa_conformance::{CallRecord, Recording};
use serde_json::json;

use crate::support::{case, count, result, run};

/// A further reply to a further message: the conversation must be one that servers take.
fn run_twice(name: &str) -> Recording {
    let again = json!({"type": "reply", "input": {"role": "user", "name": "user", "text": "again"}});
    run(case(name).then(again).unwrap())
}

/// The reply failed by the layer `E`, its call has an error result that says so, and only then it ended.
#[track_caller]
fn is_closed(reply: &CallRecord, calls: &[&str]) {
    for id in calls {
        let (state, text) = result(reply, id);
        assert_eq!(state, "error");
        assert!(text.contains("boom"), "{text}");
    }
    let types = reply.event_types();
    assert_eq!(types[types.len() - 2..], ["TOOL_RESULT_END", "REPLY_END"]);
    let starts = types.iter().filter(|one| **one == "TOOL_RESULT_START").count();
    assert_eq!(starts, calls.len());
    assert_eq!(reply.finished_reason(), Some("error"));
    assert!(reply.error_message().unwrap().contains("`E`"), "{:?}", reply.error_message());
    assert!(reply.error_message().unwrap().contains("boom"), "{:?}", reply.error_message());
}

#[test]
fn hook_errors__on_acting() {
    let recording = run_twice("hook_errors/on_acting");
    let reply = recording.call(0);
    is_closed(reply, &["t1"]);
    assert_eq!(reply.error_kind(), Some("scripted"));
    assert_eq!(count(reply, "A on_acting error") + count(reply, "A on_reply error"), 2);
    assert_eq!(recording.call(1).text(), "done");
    assert_eq!(count(recording.call(1), "tool f"), 0);
}

#[test]
fn hook_errors__on_acting_concurrent() {
    let recording = run(case("hook_errors/on_acting_concurrent"));
    let reply = recording.call(0);
    is_closed(reply, &["t1", "t2"]);
    assert_eq!(reply.error_kind(), Some("tool_exception_group"));
    let next = recording.call(1);
    assert_eq!(next.text(), "done");
    assert_eq!(count(next, "E on_acting enter"), 0);
}

#[test]
fn hook_errors__on_acting_then_none_input() {
    let recording = run(case("hook_errors/on_acting_then_none_input"));
    is_closed(recording.call(0), &["t1"]);
    let next = recording.call(1);
    assert_eq!(next.trace(), ["model main"]);
    assert_eq!(next.text(), "done");
}

#[test]
fn hook_errors__on_check_permission() {
    let recording = run_twice("hook_errors/on_check_permission");
    let reply = recording.call(0);
    is_closed(reply, &["t1"]);
    assert_eq!(count(reply, "tool f") + count(reply, "check f"), 0);
    assert_eq!(recording.call(1).text(), "done");
    assert_eq!(count(recording.call(1), "tool f"), 0);
}

#[test]
fn hook_errors__on_system_prompt() {
    let recording = run(case("hook_errors/on_system_prompt"));
    let reply = recording.call(0);
    let expected =
        ["A on_reply enter", "A on_system_prompt enter", "E on_system_prompt enter", "A on_reply error"];
    assert_eq!(reply.trace(), expected);
    assert_eq!(reply.event_types(), ["REPLY_START", "REPLY_END"]);
    assert_eq!(reply.finished_reason(), Some("error"));
    assert_eq!(reply.error_kind(), Some("scripted"));
    assert_eq!(reply.context().len(), 1);
}
