//! What is written to mem0.

use cepa_conformance::CallRecord;
use serde_json::{Value, json};

use crate::support::{case, result, run, said};

/// What mem0 was asked for.
fn asked(call: &CallRecord) -> &Value {
    &call.value()["backend"]
}

fn search() -> Value {
    json!({"backend": "mem0", "op": "search", "query": "q", "filters": {"user_id": "alice"}, "top_k": 5})
}

fn add(answer: &str) -> Value {
    let messages = json!([{"role": "user", "content": "q"}, {"role": "assistant", "content": answer}]);
    json!({"backend": "mem0", "op": "add", "messages": messages, "user_id": "alice"})
}

#[test]
fn mem0__static_hitl() {
    let recording = run(case("mem0/static_hitl"));
    let (parked, answered) = (recording.call(0), recording.call(1));
    assert_eq!(*asked(parked), json!([search()]));
    assert_eq!(said(parked)[..2], ["q", ""]);
    assert_eq!(result(answered, "t1"), ("success", "f ok".to_owned()));
    assert_eq!(answered.text(), "the real answer");
    assert_eq!(*asked(answered), json!([add("the real answer")]));
    // Nothing is left behind.
    assert_eq!(answered.state()["middle_context"], json!({}));
}

#[test]
fn mem0__static_interrupted() {
    let recording = run(case("mem0/static_interrupted"));
    let reply = recording.call(0);
    assert_eq!(reply.finished_reason(), Some("interrupted"));
    assert_eq!(reply.text(), "<<msg:interrupted>>");
    assert_eq!(*asked(reply), json!([search()]));
}

#[test]
fn mem0__static_structured() {
    let recording = run(case("mem0/static_structured"));
    let reply = recording.call(0);
    assert_eq!(reply.message()["structured_output"], json!({"answer": 4, "unit": "kg"}));
    let calls = asked(reply).as_array().unwrap();
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert_eq!(calls[0], search());
    let written: Value = serde_json::from_str(calls[1]["messages"][1]["content"].as_str().unwrap()).unwrap();
    assert_eq!(written, json!({"answer": 4, "unit": "kg"}));
    assert_eq!(calls[1]["messages"][0]["content"], "q");
}
