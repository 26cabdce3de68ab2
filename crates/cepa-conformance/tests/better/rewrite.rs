//! Layers that change what goes in.

use crate::support::{asked, case, count, result, run, system_prompt};

#[test]
fn rewrite__on_acting_invalid_input() {
    let recording = run(case("rewrite/on_acting_invalid_input"));
    let reply = recording.call(0);
    assert_eq!(result(reply, "t1"), ("error", "<<tool_error:schema name=f path=$.n>>".to_owned()));
    assert_eq!(count(reply, "tool f"), 0);
    assert_eq!(reply.text(), "ok");
}

#[test]
fn rewrite__on_acting_name() {
    let recording = run(case("rewrite/on_acting_name"));
    let reply = recording.call(0);
    assert_eq!(result(reply, "t1").0, "denied");
    assert_eq!(count(reply, "check g"), 1);
    assert_eq!(count(reply, "tool f") + count(reply, "tool g"), 0);
    // The call in the conversation stays the one that the model made.
    let call = &reply.requests()[1]["messages"][2]["content"][0];
    assert_eq!((&call["type"], &call["name"]), (&"tool_call".into(), &"f".into()));
    assert_eq!(reply.text(), "ok");
}

#[test]
fn rewrite__on_model_call_tools() {
    let recording = run(case("rewrite/on_model_call_tools"));
    let reply = recording.call(0);
    assert_eq!(reply.requests()[0]["tools"], serde_json::json!(["f"]));
    let (state, text) = result(reply, "t1");
    assert_eq!(state, "error");
    assert!(text.contains("`g` was not offered"), "{text}");
    assert_eq!(count(reply, "tool g") + count(reply, "check g"), 0);
    assert_eq!(reply.text(), "ok");
}

#[test]
fn rewrite__on_system_prompt_pipeline() {
    let recording = run(case("rewrite/on_system_prompt_pipeline"));
    let reply = recording.call(0);
    let layers = ["A on_system_prompt enter", "B on_system_prompt enter", "C on_system_prompt enter"];
    assert_eq!(reply.trace(), [&layers[..], &["model main"]].concat());
    assert_eq!(system_prompt(&reply.requests()[0]), "C+SYS+A+B");
}

#[test]
fn rewrite__on_system_prompt_how_often() {
    let recording = run(case("rewrite/on_system_prompt_how_often"));
    let reply = recording.call(0);
    let expected = [
        "A on_system_prompt enter",
        "model main",
        "check f",
        "tool f",
        "A on_system_prompt enter",
        "model main",
    ];
    assert_eq!(reply.trace(), expected);
    // Each request has a prompt of its own.
    let prompts: Vec<_> = reply.requests().iter().map(system_prompt).collect();
    assert_eq!(prompts, ["SYS #1", "SYS #2"]);
    assert_eq!(asked(&reply.requests()[0])[0], "hi");
}
