//! Layers that answer themselves.

use crate::support::{case, count, result, run, said, system_prompt};

#[test]
fn short__on_acting_response() {
    let recording = run(case("short/on_acting_response"));
    let reply = recording.call(0);
    assert_eq!(result(reply, "t1"), ("success", "cached".to_owned()));
    shows_result(reply, "cached");
    assert_eq!(count(reply, "tool f"), 0);
    assert_eq!(count(reply, "A on_acting exit"), 1);
    assert_eq!(reply.text(), "done");
}

#[test]
fn short__on_acting_error_response() {
    let recording = run(case("short/on_acting_error_response"));
    let reply = recording.call(0);
    assert_eq!(result(reply, "t1"), ("denied", "blocked".to_owned()));
    shows_result(reply, "blocked");
    assert_eq!(count(reply, "tool f"), 0);
    assert_eq!(reply.text(), "done");
}

/// The result reaches the user between its start and its end.
#[track_caller]
fn shows_result(reply: &cepa_conformance::CallRecord, text: &str) {
    let types = reply.event_types();
    let of_result: Vec<_> = types.iter().filter(|one| one.starts_with("TOOL_RESULT")).collect();
    assert_eq!(of_result, [&"TOOL_RESULT_START", &"TOOL_RESULT_TEXT_DELTA", &"TOOL_RESULT_END"]);
    assert_eq!(reply.deltas("TOOL_RESULT_TEXT_DELTA"), text);
}

#[test]
fn short__on_reasoning_message() {
    let recording = run(case("short/on_reasoning_message"));
    let reply = recording.call(0);
    assert_eq!(reply.text(), "short");
    assert_eq!(said(reply), ["hi", "short"]);
    assert_eq!(reply.context()[1]["role"], "assistant");
    assert_eq!(reply.context()[1]["id"], reply.message()["id"]);
    assert_eq!(reply.requests().len(), 0);
    assert_eq!(reply.finished_reason(), Some("completed"));
    assert_eq!(count(reply, "A on_reasoning exit"), 1);
}

#[test]
fn short__on_system_prompt() {
    let recording = run(case("short/on_system_prompt"));
    let reply = recording.call(0);
    assert_eq!(reply.trace(), ["S on_system_prompt enter", "T on_system_prompt enter", "model main"]);
    assert_eq!(system_prompt(&reply.requests()[0]), "NEW+T");
}
