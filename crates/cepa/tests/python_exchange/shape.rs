//! What must be the same whoever had the turns, and what must hold on either side.

use cepa::{
    AgentState, ContentBlock, Msg, ToolResultBlock,
    serde_json::{self, Value, json},
};

use crate::turn::Request;

/// Tools whose results are worded by the test, not by a side.
const OWN_TOOLS: [&str; 4] = ["pay", "look", "dig", "fetch"];

/// A session without what differs by nature: fresh ids, times, and texts that each side words itself.
pub(crate) fn of_session(state: &AgentState) -> Value {
    let reply = &state.reply_context;
    let spent = serde_json::to_value(&state.middle_context).unwrap();
    let spent: Vec<_> = spent["ReplyBudgetControlMiddleware"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(id, spent)| json!({"this reply": *state.reply_id() == **id, "tokens": spent}))
        .collect();
    json!({
        "summary": state.summary,
        "context": state.context.iter().map(|msg| of_message(msg, state)).collect::<Vec<_>>(),
        "cur_iter": reply.cur_iter,
        "owes": reply.structured_schema.is_some(),
        "structured_output": reply.structured_output,
        "spent": spent,
        "permissions": state.permission_context,
        "groups": state.tool_context.activated_groups,
        "tasks": state.tasks_context.tasks.iter().map(|task| json!([task.subject, task.state])).collect::<Vec<_>>(),
    })
}

fn of_message(msg: &Msg, state: &AgentState) -> Value {
    json!({
        "role": msg.role,
        "name": msg.name,
        "this reply": msg.id == *state.reply_id(),
        "tokens": msg.usage.as_ref().map(|usage| [usage.input_tokens, usage.output_tokens]),
        "content": msg.content.iter().map(of_block).collect::<Vec<_>>(),
    })
}

fn of_block(block: &ContentBlock) -> Value {
    match block {
        ContentBlock::Text(text) => json!(["text", text.text]),
        ContentBlock::Hint(hint) => json!(["hint", hint.source, tags(&hint.hint.text())]),
        ContentBlock::ToolCall(call) => {
            // A task's id is in the arguments of calls about it.
            let input = if OWN_TOOLS.contains(&&*call.name) { call.input.as_str() } else { "" };
            json!(["call", call.id, call.name, input, call.state])
        }
        ContentBlock::ToolResult(result) => {
            json!(["result", result.id, result.name, result.state, own_output(result)])
        }
        other => json!([other.block_type()]),
    }
}

fn own_output(result: &ToolResultBlock) -> Option<String> {
    OWN_TOOLS.contains(&&*result.name).then(|| result.output.text().into_owned())
}

/// What a runtime-state hint tells of.
fn tags(hint: &str) -> Vec<&str> {
    let tags = ["current-time", "timezone", "tasks", "context-length", "tool-error"];
    tags.into_iter().filter(|tag| hint.contains(&format!("</{tag}>"))).collect()
}

/// How often the model was told the time.
pub(crate) fn times_told(state: &AgentState) -> usize {
    let blocks = state.context.iter().flat_map(|msg| &msg.content);
    let hints = blocks.filter_map(|block| match block {
        ContentBlock::Hint(hint) => Some(hint.hint.text()),
        _ => None,
    });
    hints.filter(|hint| tags(hint).contains(&"current-time")).count()
}

/// Every call has one result, in its message and behind it, and its arguments are JSON.
pub(crate) fn assert_paired(request: &Request) {
    for msg in &request.messages {
        let mut open = Vec::new();
        for block in &msg.content {
            match block {
                ContentBlock::ToolCall(call) => {
                    let input = serde_json::from_str::<Value>(&call.input);
                    assert!(input.is_ok_and(|input| input.is_object()), "{call:?}");
                    open.push(&call.id);
                }
                ContentBlock::ToolResult(result) => {
                    let call = open.iter().position(|id| **id == result.id);
                    open.remove(call.unwrap_or_else(|| panic!("a result without its call: {msg:?}")));
                }
                _ => {}
            }
        }
        assert!(open.is_empty(), "calls without a result: {open:?} in {msg:?}");
    }
}
