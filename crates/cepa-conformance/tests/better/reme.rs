//! Memory in ReMe.

use cepa_conformance::{CallRecord, Recording};
use serde_json::{Value, json};

use crate::support::{case, run, said, tokens};

/// The arguments of the turns that were remembered.
fn written(recording: &Recording, calls: usize) -> Vec<Value> {
    let calls = (0..calls).flat_map(|call| jobs(recording.call(call)));
    calls.filter(|job| job["job"] == "auto_memory").collect()
}

/// The jobs that were run.
fn jobs(call: &CallRecord) -> Vec<Value> {
    call.value()["backend"].as_array().unwrap().clone()
}

/// What was found, in the requests: how many hints each has.
fn hints(recording: &Recording) -> Vec<usize> {
    let is_hint = |block: &&Value| block["hint"] == "<<hint:memories - likes tea>>";
    let in_message = |message: &Value| message["content"].as_array().unwrap().iter().filter(is_hint).count();
    recording
        .requests()
        .map(|request| request["messages"].as_array().unwrap().iter().map(in_message).sum())
        .collect()
}

/// The reply is one message, under one id.
#[track_caller]
fn assert_whole(call: &CallRecord) {
    let ids: Vec<_> = call.context().iter().map(|message| message["id"].clone()).collect();
    assert_eq!(ids, ["u1", "r1"]);
}

/// A turn, as ReMe gets it: what was said and done, without what was found.
fn turn(asked: &str, done: Value) -> Value {
    json!([
        {"name": "user", "role": "user", "content": [{"type": "text", "text": asked}]},
        {"name": "Friday", "role": "assistant", "content": done},
    ])
}

/// Messages with what counts of their blocks.
fn bare(messages: &Value) -> Value {
    let mut messages = messages.clone();
    for message in messages.as_array_mut().unwrap() {
        for block in message["content"].as_array_mut().unwrap() {
            let is_text = block["type"] == "text";
            let block = block.as_object_mut().unwrap();
            block.retain(|key, _| !(is_text && key == "id") && key != "suggested_rules");
        }
    }
    messages
}

fn called(id: &str, name: &str, input: &str, output: &str) -> [Value; 2] {
    [
        json!({"type": "tool_call", "id": id, "name": name, "input": input, "state": "finished"}),
        json!({"type": "tool_result", "id": id, "name": name, "state": "success",
               "output": [{"type": "text", "text": output}]}),
    ]
}

fn steps(calls: &[[Value; 2]], answer: &str) -> Value {
    calls.iter().flatten().cloned().chain([json!({"type": "text", "text": answer})]).collect()
}

#[test]
fn reme__both() {
    let recording = run(case("reme/both"));
    let reply = recording.call(0);
    assert_eq!(hints(&recording), [0, 1, 1]);
    assert_whole(reply);
    assert_eq!(tokens(&reply.message()["usage"]), (30, 15));
    let searched: Vec<_> = jobs(reply).iter().map(|job| (job["job"].clone(), job["query"].clone())).collect();
    assert_eq!(
        searched,
        [
            (json!("search"), json!("hi")),
            (json!("search"), json!("tea")),
            (json!("auto_memory"), Value::Null)
        ]
    );
    let written = written(&recording, 1);
    assert_eq!(written[0]["session_id"], "s1");
    let calls =
        [called("t1", "memory_search", r#"{"query":"tea"}"#, "- likes tea"), called("t2", "f", "{}", "F")];
    assert_eq!(bare(&written[0]["messages"]), turn("hi", steps(&calls, "ok")));
}

#[test]
fn reme__static_tool_round() {
    let recording = run(case("reme/static_tool_round"));
    let reply = recording.call(0);
    assert_eq!(hints(&recording), [0, 1]);
    assert_whole(reply);
    // 10 + 5 for the call, 20 + 6 for the answer.
    assert_eq!(tokens(&reply.message()["usage"]), (30, 11));
    assert_eq!(said(reply), ["hi", "ok"]);
    let written = written(&recording, 1);
    assert_eq!(written.len(), 1);
    assert_eq!(bare(&written[0]["messages"]), turn("hi", steps(&[called("t1", "f", "{}", "F")], "ok")));
}

#[test]
fn reme__hitl() {
    let recording = run(case("reme/hitl"));
    assert_eq!(jobs(recording.call(0)), Vec::<Value>::new());
    let written = written(&recording, 2);
    assert_eq!(written.len(), 1);
    assert_eq!(
        bare(&written[0]["messages"]),
        turn("q", steps(&[called("t1", "f", "{}", "f ok")], "the real answer"))
    );
    assert_eq!(recording.call(1).state()["middle_context"], json!({}));
}

#[test]
fn reme__hitl_after_injection() {
    let recording = run(case("reme/hitl_after_injection"));
    assert_eq!(hints(&recording), [0, 1, 1]);
    assert_whole(recording.call(1));
    let written = written(&recording, 2);
    assert_eq!(written.len(), 1);
    let calls = [called("t1", "f", "{}", "F"), called("t2", "g", "{}", "g ok")];
    assert_eq!(bare(&written[0]["messages"]), turn("q", steps(&calls, "ok")));
    assert_eq!(tokens(&recording.call(1).message()["usage"]), (30, 15));
}
