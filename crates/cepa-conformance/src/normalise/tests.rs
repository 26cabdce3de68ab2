use serde_json::{Value, json};

use super::normalise;
use crate::tags::Tags;

/// A made-up id.
fn id(n: u8) -> String {
    format!("{n:032x}")
}

fn normalised(calls: Value) -> Value {
    let Value::Array(calls) = calls else { panic!("a list of calls") };
    Value::Array(normalise(calls, &Tags::of_cepa()))
}

#[test]
fn made_up_ids_are_numbered_over_all_calls_and_scripted_ones_stay() {
    let event = |kind: &str, reply: u8, block: &str| json!({"id": id(99), "created_at": "2026", "metadata": {}, "type": kind, "reply_id": id(reply), "block_id": block});
    let calls = json!([
        {"events": [event("TEXT_BLOCK_START", 1, &id(7)), event("TEXT_BLOCK_START", 1, "d1")]},
        {"events": [event("TEXT_BLOCK_START", 2, &id(8)), event("TEXT_BLOCK_END", 1, &id(7))]},
    ]);
    let told =
        |kind: &str, reply: &str, block: &str| json!({"type": kind, "reply_id": reply, "block_id": block});
    let expected = json!([
        {"events": [told("TEXT_BLOCK_START", "r1", "b1"), told("TEXT_BLOCK_START", "r1", "d1")]},
        {"events": [told("TEXT_BLOCK_START", "r2", "b2"), told("TEXT_BLOCK_END", "r1", "b1")]},
    ]);
    assert_eq!(normalised(calls), expected);
}

#[test]
fn a_block_shows_its_id_only_if_an_event_told_it() {
    let block =
        |n: u8| json!({"type": "text", "text": "x", "id": id(n), "created_at": "2026", "finished_at": null});
    let calls = json!([{
        "events": [{"type": "TEXT_BLOCK_START", "reply_id": id(1), "block_id": id(7)}],
        "final_messages": [{"id": id(1), "content": [block(7), block(8)], "usage": null, "metadata": {}}],
    }]);
    let message = json!({"id": "r1", "content": [{"type": "text", "text": "x", "id": "b1"}, {"type": "text", "text": "x"}]});
    assert_eq!(normalised(calls)[0]["final_messages"], json!([message]));
}

#[test]
fn state_keeps_what_matters() {
    let state = json!({
        "session_id": "s1",
        "summary": "",
        "context": [],
        "reply_context": {"reply_id": id(5), "cur_iter": 0, "structured_schema": {"type": "object"}, "structured_output": null},
        "permission_context": {"mode": "default", "allow_rules": {}, "deny_rules": {}, "ask_rules": {}, "working_directories": {}},
        "tool_context": {"activated_groups": [], "read_file_cache": []},
        "tasks_context": {"tasks": [{"subject": "a", "state": "pending", "id": id(6), "description": ""}]},
        "middle_context": {"Layer": {"n": 1}},
    });
    let expected = json!({
        "session_id": "s1",
        "summary": "",
        "context": [],
        "reply_context": {"reply_id": "<none>", "cur_iter": 0, "has_structured_schema": true, "structured_output": null},
        "tasks": [{"subject": "a", "state": "pending"}],
        "middle_context": {"Layer": {"n": 1}},
    });
    assert_eq!(normalised(json!([{"state": state}]))[0]["state"], expected);
}

#[test]
fn keys_of_the_store_are_names_too() {
    let state = json!({"middle_context": {"Budget": {id(1): 15}}, "reply_context": {"reply_id": id(1)}});
    let calls = json!([{"events": [{"type": "REPLY_START", "reply_id": id(1)}], "state": state}]);
    let state = &normalised(calls)[0]["state"];
    assert_eq!(state["middle_context"], json!({"Budget": {"r1": 15}}));
    assert_eq!(state["reply_context"]["reply_id"], "r1");
}

#[test]
fn built_in_texts_become_tags_wherever_they_stand() {
    use cepa_core::texts;
    let cut = format!("abcd{}", texts::TRUNCATED);
    let result = json!({"type": "tool_result", "id": "t1", "output": [{"type": "text", "text": cut}], "suggested_rules": []});
    let calls = json!([{
        "events": [{"type": "TOOL_RESULT_TEXT_DELTA", "delta": texts::TOOL_INTERRUPTED}],
        "final_messages": [{"id": "u1", "content": [result]}],
    }]);
    let calls = normalised(calls);
    assert_eq!(calls[0]["events"][0]["delta"], "<<tool:interrupted>>");
    assert_eq!(calls[0]["final_messages"][0]["content"][0]["output"][0]["text"], "abcd<<truncated>>");
}

#[test]
fn spans_are_masked_and_their_json_is_read() {
    use cepa_core::texts;
    let block = json!({"type": "text", "text": texts::TOOL_INTERRUPTED, "id": id(7), "created_at": "2026"});
    let result = json!({"content": [block], "id": "t1"}).to_string();
    let tools =
        json!([{"name": "f", "description": "does it", "parameters": {"type": "object"}}]).to_string();
    let calls = json!([{
        "events": [{"type": "REPLY_START", "reply_id": id(1)}],
        "spans": [{"attributes": {
            "agentscope.agent.reply_id": id(1),
            "gen_ai.agent.description": "An agent",
            "gen_ai.response.id": id(2),
            "gen_ai.tool.call.arguments": "{}",
            "gen_ai.tool.call.result": result,
            "gen_ai.tool.definitions": tools,
        }}],
    }]);
    let block = json!({"type": "text", "text": "<<tool:interrupted>>", "id": "<id>", "created_at": "<time>"});
    let tool = json!({"name": "f", "description": "<description>", "parameters": "<json schema>"});
    let expected = json!({
        "agentscope.agent.reply_id": "r1",
        "gen_ai.agent.description": "<agent class description>",
        "gen_ai.response.id": "<response id>",
        "gen_ai.tool.call.arguments": "{}",
        "gen_ai.tool.call.result": {"json": {"content": [block], "id": "t1"}},
        "gen_ai.tool.definitions": {"json": [tool]},
    });
    assert_eq!(normalised(calls)[0]["spans"][0]["attributes"], expected);
}
