//! Layers that call `next` again.

use crate::support::{asked, case, count, run, said};

#[test]
fn retry__on_model_call_mid_stream() {
    let recording = run(case("retry/on_model_call_mid_stream"));
    let reply = recording.call(0);
    // Both the failure and the refusal reach the layer.
    assert_eq!(count(reply, "R on_model_call caught"), 2);
    assert_eq!(count(reply, "model main"), 1);
    assert_eq!(reply.error_kind(), Some("items_already_sent"));
    assert!(reply.error_message().unwrap().contains("would show them twice"));
    // The text is shown once, its block is ended, and it is not part of the conversation.
    assert_eq!(reply.deltas("TEXT_BLOCK_DELTA"), "a");
    let types = reply.event_types();
    assert_eq!(types[types.len() - 2..], ["TEXT_BLOCK_END", "REPLY_END"]);
    assert_eq!(reply.finished_reason(), Some("error"));
    assert_eq!(said(reply), ["hi"]);
}

#[test]
fn retry__on_reasoning() {
    let recording = run(case("retry/on_reasoning"));
    let reply = recording.call(0);
    let expected = [
        "REPLY_START",
        "MODEL_CALL_START",
        "TEXT_BLOCK_START",
        "TEXT_BLOCK_DELTA",
        "TEXT_BLOCK_END",
        "MODEL_CALL_START",
        "TEXT_BLOCK_START",
        "TEXT_BLOCK_DELTA",
        "TEXT_BLOCK_END",
        "MODEL_CALL_END",
        "REPLY_END",
    ];
    assert_eq!(reply.event_types(), expected);
    assert_eq!(count(reply, "B on_reasoning error") + count(reply, "B on_reasoning exit"), 2);
    let requests: Vec<_> = reply.requests().iter().map(asked).collect();
    assert_eq!(requests, [["hi"], ["hi"]]);
    assert_eq!(reply.text(), "ok");
    assert_eq!(said(reply), ["hi", "ok"]);
}

#[test]
fn retry__on_reply() {
    let recording = run(case("retry/on_reply"));
    let reply = recording.call(0);
    assert_eq!(reply.events_of("REPLY_START").len(), 1);
    assert_eq!(reply.events_of("REPLY_END").len(), 1);
    let requests: Vec<_> = reply.requests().iter().map(asked).collect();
    assert_eq!(requests, [["hi"], ["hi"]]);
    assert_eq!(said(reply), ["hi", "ok"]);
    assert_eq!(reply.text(), "ok");
    assert_eq!(count(reply, "R on_reply caught"), 1);
}
