//! Model requests that fail.

use serde_json::json;

use crate::support::{PLAIN, case, run, said};

#[test]
fn errors__first_chunk() {
    let recording = run(case("errors/first_chunk"));
    let reply = recording.call(0);
    assert_eq!(reply.trace(), ["model main", "model main"]);
    assert_eq!(reply.event_types(), PLAIN);
    assert_eq!(reply.text(), "unused");
    assert_eq!(said(reply), ["hi", "unused"]);

    // All attempts of the first model fail: the fallback answers.
    let fails = json!({"chunks": [{"raise": {"message": "boom"}}]});
    let again = json!({"type": "reply", "input": {"role": "user", "name": "user", "text": "again"}});
    let twice = case("errors/first_chunk").then(again).unwrap();
    let twice = twice.answers("main", fails.clone()).unwrap().answers("main", fails).unwrap();
    let recording = run(twice);
    let reply = recording.call(1);
    assert_eq!(reply.trace(), ["model main", "model main", "model fb"]);
    assert_eq!(reply.event_types(), PLAIN);
    assert_eq!(reply.text(), "unused");
    // The model that answered is named where the answer ends.
    assert_eq!(reply.events_of("MODEL_CALL_END")[0]["metadata"]["model_name"], "mock-fb");
}
