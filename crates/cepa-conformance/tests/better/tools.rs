//! Tools that fail for the developer, and servers that repeat the ids of calls.

use serde_json::json;

use crate::support::{case, count, result, run};

#[test]
fn tools__developer_error_sequential() {
    let again = json!({"type": "reply", "input": {"role": "user", "name": "user", "text": "again"}});
    let recording = run(case("tools/developer_error_sequential").then(again).unwrap());
    let reply = recording.call(0);
    let (state, text) = result(reply, "t1");
    assert_eq!(state, "error");
    assert!(text.contains("bad tool"), "{text}");
    assert!(reply.deltas("TOOL_RESULT_TEXT_DELTA").contains("bad tool"));
    // Only then the error ends the reply.
    let types = reply.event_types();
    assert_eq!(types[types.len() - 2..], ["TOOL_RESULT_END", "REPLY_END"]);
    assert_eq!(reply.finished_reason(), Some("error"));
    assert_eq!((reply.error_kind(), reply.error_message()), (Some("scripted"), Some("tool `f`: bad tool")));
    // The agent is ready for the next message, and the tool is not run again.
    assert_eq!(recording.call(1).text(), "done");
    assert_eq!(count(recording.call(1), "tool f"), 0);
}

#[test]
fn tools__developer_error_concurrent() {
    let recording = run(case("tools/developer_error_concurrent"));
    let reply = recording.call(0);
    let (state, text) = result(reply, "t1");
    assert_eq!(state, "error");
    assert!(text.contains("bad tool"), "{text}");
    assert_eq!(result(reply, "t2"), ("success", "G".to_owned()));
    let types = reply.event_types();
    assert_eq!(types.iter().filter(|one| **one == "TOOL_RESULT_START").count(), 2);
    assert_eq!(types[types.len() - 2..], ["TOOL_RESULT_END", "REPLY_END"]);
    assert_eq!(reply.error_kind(), Some("scripted"));
    assert!(reply.error_message().unwrap().contains("bad tool"));
    assert_eq!(reply.requests().len(), 1);
}

#[test]
fn tools__duplicate_call_id() {
    let recording = run(case("tools/duplicate_call_id"));
    let reply = recording.call(0);
    assert_eq!(count(reply, "tool f"), 2);
    assert_eq!(count(reply, "check f"), 2);
    let calls: Vec<_> = reply.blocks().filter(|block| block["type"] == "tool_call").collect();
    let ids: Vec<_> = calls.iter().map(|call| call["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 2);
    assert_eq!(ids[0], "t1");
    assert_ne!(ids[1], "t1");
    for id in &ids {
        assert_eq!(result(reply, id), ("success", "f ok".to_owned()));
    }
    // The user sees the ids that are kept.
    let started: Vec<_> =
        reply.events_of("TOOL_CALL_START").iter().map(|event| &event["tool_call_id"]).collect();
    assert_eq!(started, ids);
    let last = &reply.requests()[2]["messages"];
    let asked: Vec<_> = last[2]["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert_eq!(asked, ["tool_call", "tool_result", "tool_call", "tool_result"]);
    assert_eq!(reply.text(), "done");
}
