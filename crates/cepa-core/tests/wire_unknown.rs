//! Fields of another version survive at every level, and states of older versions load.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

use cepa_core::{AgentEvent, AgentState, Msg};
use serde_json::{Value, json};

/// Puts `"future": 1` into every object that is not a free-form one.
fn mark(value: &mut Value, free: bool) {
    const FREE: [&str; 5] = ["metadata", "value", "structured_schema", "structured_output", "middle_context"];
    const BY_NAME: [&str; 4] = ["working_directories", "allow_rules", "deny_rules", "ask_rules"];
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| mark(item, free)),
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                if BY_NAME.contains(&key.as_str()) {
                    value.as_object_mut().unwrap().values_mut().for_each(|value| mark(value, false));
                } else if !FREE.contains(&key.as_str()) {
                    mark(value, false);
                }
            }
            if !free {
                fields.insert("future".to_owned(), json!({ "k": [1, 2.0, null] }));
            }
        }
        _ => {}
    }
}

fn marked(line: &str) -> (Value, usize) {
    let mut value: Value = serde_json::from_str(line).unwrap();
    mark(&mut value, false);
    let marks = value.to_string().matches("future").count();
    (value, marks)
}

#[test]
fn in_messages_and_their_blocks() {
    let mut marks = 0;
    for line in include_str!("dumps/messages.jsonl").lines() {
        let (value, n) = marked(line);
        let msg: Msg = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(serde_json::to_value(&msg).unwrap(), value);
        marks += n;
    }
    for line in include_str!("dumps/blocks.jsonl").lines() {
        let (value, _) = marked(line);
        let msg = json!({ "name": "a", "role": "assistant", "content": [value] });
        let read: Msg = serde_json::from_value(msg).unwrap();
        assert_eq!(serde_json::to_value(&read.content[0]).unwrap(), value);
    }
    assert!(marks > 10, "{marks}");
}

#[test]
fn in_events() {
    for line in include_str!("dumps/events.jsonl").lines() {
        let (value, _) = marked(line);
        let event: AgentEvent = serde_json::from_value(value.clone()).unwrap();
        assert!(event.extra.contains_key("future"), "{line}");
        assert_eq!(serde_json::to_value(&event).unwrap(), value);
        // and written after the known ones
        assert!(serde_json::to_string(&event).unwrap().ends_with(r#""future":{"k":[1,2.0,null]}}"#));
    }
}

#[test]
fn in_the_state() {
    let mut value: Value = serde_json::from_str(include_str!("dumps/state.json")).unwrap();
    value["permission_context"]["working_directories"] =
        json!({ "/w": { "path": "/w", "source": "session" } });
    value["tool_context"]["read_file_cache"] = json!([{ "lines": ["x"], "updated_at": 1767323045.6789012, "bytes": 0.0009765625, "file_path": "/w/x" }]);
    mark(&mut value, false);
    let marks = value.to_string().matches("future").count();
    assert!(marks >= 12, "{marks}");
    let state: AgentState = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(serde_json::to_value(&state).unwrap(), value);
}

#[test]
fn a_providers_fields_on_a_thinking_block_may_look_like_known_ones_of_other_blocks() {
    let block = json!({
        "type": "thinking", "thinking": "", "id": "t", "created_at": "x", "finished_at": null,
        "redacted_thinking_data": "…", "state": 5, "source": [1], "text": { "a": 1 }, "name": null,
    });
    let read: cepa_core::ContentBlock = serde_json::from_value(block.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), block);
}

#[test]
fn legacy_reply_fields_move_into_the_reply_context() {
    let state: AgentState =
        serde_json::from_value(json!({ "session_id": "s", "reply_id": "old", "cur_iter": 3 })).unwrap();
    assert_eq!((state.reply_id().to_string().as_str(), state.reply_context.cur_iter), ("old", 3));
    assert!(state.extra.is_empty());

    let half = json!({ "reply_id": "old", "cur_iter": 3, "reply_context": { "reply_id": "new" } });
    let state: AgentState = serde_json::from_value(half).unwrap();
    assert_eq!((state.reply_id().to_string().as_str(), state.reply_context.cur_iter), ("new", 3));
    let saved = serde_json::to_value(&state).unwrap();
    assert_eq!((saved.get("reply_id"), saved.get("cur_iter")), (None, None));
}

#[test]
fn what_is_missing_takes_the_defaults() {
    let state: AgentState = serde_json::from_str("{}").unwrap();
    let fresh = serde_json::to_value(AgentState::new()).unwrap();
    let mut saved = serde_json::to_value(&state).unwrap();
    for (at, key) in [("", "session_id"), ("/reply_context", "reply_id")] {
        let [id, new] = [&saved, &fresh].map(|value| value.pointer(at).unwrap()[key].as_str().unwrap().len());
        assert_eq!((id, new), (32, 32));
        saved.pointer_mut(at).unwrap()[key] = fresh.pointer(at).unwrap()[key].clone();
    }
    assert_eq!(saved, fresh);
    assert_eq!(saved["tool_context"]["max_cache_bytes"].to_string(), "25000.0");

    let msg: Msg = serde_json::from_value(json!({
        "name": "a", "role": "assistant",
        "content": [{ "type": "hint", "hint": "h" }, { "type": "tool_call", "id": "c", "name": "f", "input": "" }],
    }))
    .unwrap();
    let saved = serde_json::to_value(&msg).unwrap();
    assert!(saved["content"][0]["finished_at"].is_string(), "a hint is finished when it is made");
    assert_eq!(saved["content"][1]["state"], "pending");
    assert_eq!(saved["content"][1]["suggested_rules"], json!([]));
}
