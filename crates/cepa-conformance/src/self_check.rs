//! Recordings as Cepa would make them, if it did all that the recordings demand.

use serde_json::{Value, json};

/// The recording of a call, with what Cepa does beyond it: a reply that fails says so in a `REPLY_END`, and an
/// interrupt that is raised has a kind of its own.
pub(crate) fn as_of_cepa(call: &Value) -> Value {
    let mut call = call.clone();
    if call["error"].is_null() {
        return call;
    }
    if call["error"]["type"] == "CancelledError" {
        call["error"] = json!({"kind": "interrupted"});
    }
    if let Some(events) = call["events"].as_array_mut()
        && !events.is_empty()
        && !events.iter().any(|event| event["type"] == "REPLY_END")
    {
        events.push(json!({"type": "REPLY_END", "finished_reason": "error"}));
    }
    call
}
