//! Answers of nothing, and answers that come in one piece.

use serde_json::json;

use crate::support::{PLAIN, asked, case, run, said, tokens};

#[test]
fn basic__empty_stream() {
    let answered =
        run(case("basic/empty_stream").answers("main", json!({"chunks": [{"text": "ok"}]})).unwrap());
    let reply = answered.call(0);
    assert_eq!(reply.text(), "ok");
    assert_eq!(reply.finished_reason(), Some("completed"));
    let requests: Vec<_> = reply.requests().iter().map(asked).collect();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0], ["hi"]);
    // The nudge is a short one, and not kept.
    assert_eq!(requests[1].len(), 2);
    assert!((1..200).contains(&requests[1][1].len()), "{requests:?}");
    assert_eq!(said(reply), ["hi", "ok"]);
}

#[test]
fn basic__empty_stream_with_usage() {
    let nothing = json!({"chunks": [{"usage": {"input_tokens": 10, "output_tokens": 5}}]});
    let failed = run(case("basic/empty_stream_with_usage").answers("main", nothing).unwrap());
    let reply = failed.call(0);
    assert_eq!(reply.error_kind(), Some("empty_answer"));
    assert_eq!(reply.error_message(), Some("model `mock-main` answered with nothing, twice"));
    assert_eq!(reply.finished_reason(), Some("error"));
    assert_eq!(reply.events_of("REPLY_END")[0]["error"]["type"], "upstream");
    // Both requests were paid for.
    assert_eq!(reply.requests().len(), 2);
    assert_eq!(tokens(&reply.context()[1]["usage"]), (20, 10));
    assert_eq!(said(reply), ["hi", ""]);
}

#[test]
fn basic__only_last_chunk() {
    let recording = run(case("basic/only_last_chunk"));
    let reply = recording.call(0);
    assert_eq!(reply.event_types(), PLAIN);
    assert_eq!(reply.deltas("TEXT_BLOCK_DELTA"), "Hey");
    assert_eq!(reply.text(), "Hey");
    assert_eq!(said(reply), ["hi", "Hey"]);
    assert_eq!(tokens(&reply.message()["usage"]), (10, 5));
    assert_eq!(reply.value()["rebuilt_from_events"]["content"][0]["text"], "Hey");
}
