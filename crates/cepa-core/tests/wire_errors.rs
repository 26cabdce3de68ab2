//! Bad input says what is wrong, and where.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

use cepa_core::{AgentEvent, AgentState, ConfirmResult, ContentBlock, Msg, ToolCallBlock};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn error<T: DeserializeOwned>(value: Value) -> String {
    let from_value = serde_json::from_value::<T>(value.clone()).map(drop).unwrap_err().to_string();
    let from_text = serde_json::from_str::<T>(&value.to_string()).map(drop).unwrap_err().to_string();
    assert!(from_text.starts_with(&from_value), "{from_text} / {from_value}");
    from_text
}

#[track_caller]
fn assert_says(error: &str, parts: &[&str]) {
    for part in parts {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
}

#[test]
fn an_unknown_block_type_lists_the_known_ones() {
    let error = error::<Msg>(json!({ "name": "a", "role": "user", "content": [{ "type": "video" }] }));
    assert_says(&error, &["content: ", "`video`", "`text`", "`tool_call`", "`data`", "line 1"]);
}

#[test]
fn an_unknown_event_type_lists_the_known_ones() {
    assert_says(&error::<AgentEvent>(json!({ "type": "NOPE" })), &["`NOPE`", "`REPLY_START`", "`CUSTOM`"]);
    assert_says(&error::<AgentEvent>(json!({ "reply_id": "r" })), &["missing field `type`"]);
}

#[test]
fn an_error_names_the_path_of_fields() {
    let value = json!({ "context": [{
        "name": "a", "role": "assistant", "content": [{ "type": "tool_call", "id": "c", "name": "f", "input": {} }],
    }] });
    assert_says(
        &error::<AgentState>(value),
        &["context: content: input: invalid type: map, expected a string"],
    );
    let value = json!({ "type": "TEXT_BLOCK_DELTA", "reply_id": "r", "block_id": "b" });
    assert_says(&error::<AgentEvent>(value), &["missing field `delta`"]);
    let value = json!({ "type": "tool_result", "id": "c", "name": "f", "output": "x", "state": "great" });
    assert_says(&error::<ContentBlock>(value), &["state: unknown variant `great`", "`success`"]);
    assert_says(&error::<ContentBlock>(json!("text")), &["expected a content block"]);
}

#[test]
fn a_block_where_another_is_due_is_refused() {
    let call = json!({ "type": "text", "id": "c", "name": "f", "input": "{}" });
    assert_says(&error::<ToolCallBlock>(call.clone()), &["type: \"text\"", "\"tool_call\""]);
    assert_says(
        &error::<ConfirmResult>(json!({ "confirmed": true, "tool_call": call })),
        &["tool_call: type:"],
    );
    let tagless = json!({ "id": "c", "name": "f", "input": "{}" });
    assert!(serde_json::from_value::<ToolCallBlock>(tagless).is_ok());
    let hint = json!({ "type": "hint", "hint": [{ "type": "hint", "hint": "x" }] });
    assert_says(&error::<ContentBlock>(hint), &["hint: unknown variant `hint`, expected `text` or `data`"]);
}

#[test]
fn roles_may_hold_their_own_blocks_only() {
    let msg = |role: &str, block: Value| json!({ "name": "a", "role": role, "content": [block] });
    let [text, data, hint] = [
        json!({ "type": "text", "text": "x" }),
        json!({ "type": "data", "source": { "type": "url", "url": "https://e.org/a", "media_type": "image/png" } }),
        json!({ "type": "hint", "hint": "x" }),
    ];
    for (role, block) in
        [("user", &text), ("user", &data), ("system", &text), ("assistant", &data), ("assistant", &hint)]
    {
        assert!(serde_json::from_value::<Msg>(msg(role, block.clone())).is_ok(), "{role} {block}");
    }
    assert_says(&error::<Msg>(msg("user", hint.clone())), &["`user`", "text and data blocks", "`hint`"]);
    assert_says(&error::<Msg>(msg("system", data)), &["`system`", "text blocks", "`data`"]);
    assert_says(&error::<Msg>(msg("tool", text)), &["role: unknown variant `tool`", "`assistant`"]);
}

#[test]
fn a_data_delta_has_exactly_one_source() {
    for kind in ["DATA_BLOCK_DELTA", "TOOL_RESULT_DATA_DELTA"] {
        let delta = |data: Value, url: Value| {
            json!({ "type": kind, "reply_id": "r", "block_id": "b", "tool_call_id": "c", "media_type": "image/png",
                    "data": data, "url": url })
        };
        assert!(serde_json::from_value::<AgentEvent>(delta(json!("AA=="), Value::Null)).is_ok());
        assert!(serde_json::from_value::<AgentEvent>(delta(Value::Null, json!("u"))).is_ok());
        let both = error::<AgentEvent>(delta(json!("AA=="), json!("u")));
        assert_says(&both, &["`data` and `url` are both set"]);
        let none = error::<AgentEvent>(delta(Value::Null, Value::Null));
        assert_says(&none, &["neither `data` nor `url` is set"]);
        assert_says(&error::<AgentEvent>(delta(json!(5), Value::Null)), &["data: 5 is not a string"]);
    }
}

#[test]
fn limits_that_are_too_low_are_refused() {
    let limits = |files: u32, bytes: f64| json!({ "tool_context": { "max_cache_files": files, "max_cache_bytes": bytes } });
    assert!(serde_json::from_value::<AgentState>(limits(2, 10_001.0)).is_ok());
    assert_says(&error::<AgentState>(limits(1, 25_000.0)), &["tool_context: max_cache_files: 1 is too low"]);
    assert_says(
        &error::<AgentState>(limits(2, 10_000.0)),
        &["tool_context: max_cache_bytes: 10000 is too low"],
    );
}
