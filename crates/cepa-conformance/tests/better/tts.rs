//! Speech.

use cepa_conformance::CallRecord;
use serde_json::{Value, json};

use crate::support::{PLAIN, case, run, said, tokens};

/// What the speech model was told, with the text.
fn told(call: &CallRecord) -> &Value {
    &call.value()["backend"]
}

#[test]
fn tts__plain_fails() {
    let recording = run(case("tts/plain_fails"));
    let reply = recording.call(0);
    assert_eq!(reply.error_kind(), None);
    // It failed before any audio: no block was open.
    assert_eq!(reply.event_types(), PLAIN);
    assert_eq!(reply.finished_reason(), Some("completed"));
    assert_eq!(*told(reply), json!([{"backend": "tts", "op": "synthesize", "text": "a"}]));
    assert_eq!(said(reply), ["hi", "a"]);
    assert_eq!(reply.text(), "a");
    assert_eq!(tokens(&reply.message()["usage"]), (10, 5));
}

#[test]
fn tts__realtime_interrupted() {
    let recording = run(case("tts/realtime_interrupted"));
    let reply = recording.call(0);
    assert_eq!(reply.error_kind(), None);
    assert_eq!(reply.deltas("TEXT_BLOCK_DELTA"), "Hel");
    let (starts, ends) = (reply.events_of("DATA_BLOCK_START"), reply.events_of("DATA_BLOCK_END"));
    assert_eq!((starts.len(), ends.len()), (1, 1));
    assert_eq!(starts[0]["block_id"], ends[0]["block_id"]);
    // What was said before the interrupt, and nothing after it.
    let audio: Vec<_> =
        reply.events_of("DATA_BLOCK_DELTA").iter().map(|event| event["data"].clone()).collect();
    assert_eq!(audio, ["AAE="]);
    assert_eq!(
        reply.event_types()[4..],
        [
            "DATA_BLOCK_START",
            "DATA_BLOCK_DELTA",
            "DATA_BLOCK_END",
            "TEXT_BLOCK_END",
            "MODEL_CALL_END",
            "REPLY_END"
        ]
    );
    let ops: Vec<_> = told(reply).as_array().unwrap().iter().map(|call| call["op"].clone()).collect();
    assert_eq!(ops, ["connect", "push", "close"]);
    assert_eq!(reply.finished_reason(), Some("interrupted"));
    assert_eq!(said(reply), ["q", "Hel"]);
    assert_eq!(reply.text(), "<<msg:interrupted>>");
}
