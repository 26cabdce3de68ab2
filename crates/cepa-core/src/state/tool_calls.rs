//! Which tool calls of the last message still want something.

use smallvec::SmallVec;

use super::AgentState;
use crate::message::{ContentBlock, Msg, Role, ToolCallBlock, ToolCallState};

impl AgentState {
    /// The tool calls of the last message, if the agent `name` wrote it, that wait for somebody outside: for a
    /// person's answer, or for a result from elsewhere.
    #[must_use]
    pub fn awaiting_tool_calls(&self, name: &str) -> Vec<&ToolCallBlock> {
        let Some(last) = self.last_message_of(name) else { return Vec::new() };
        last.tool_calls().filter(|call| is_awaiting(last, call)).collect()
    }

    /// Whether the reply waits for somebody outside, see [`awaiting_tool_calls`](Self::awaiting_tool_calls).
    #[must_use]
    pub fn has_awaiting_tool_calls(&self, name: &str) -> bool {
        self.last_message_of(name).is_some_and(|last| last.tool_calls().any(|call| is_awaiting(last, call)))
    }

    /// The tool calls of the reply at hand, if the agent `name` writes it, that have no result yet.
    #[must_use]
    pub fn unfinished_tool_calls(&self, name: &str) -> Vec<&ToolCallBlock> {
        match self.last_message_of(name) {
            Some(last) if last.id == *self.reply_id() => without_result(last),
            _ => Vec::new(),
        }
    }

    fn last_message_of(&self, name: &str) -> Option<&Msg> {
        self.context
            .last()
            .map(|last| &**last)
            .filter(|last| last.role == Role::Assistant && *last.name == *name)
    }
}

fn is_awaiting(msg: &Msg, call: &ToolCallBlock) -> bool {
    match call.state {
        ToolCallState::Asking => true,
        ToolCallState::Submitted => msg.tool_result(&call.id).is_none(),
        _ => false,
    }
}

/// The calls without a result, in order.
///
/// The agent asks this every round of a message that grows by every round, so it must not look through the whole
/// message for each call. Walking backwards, a result is met before its call and crossed off with it: the list of open
/// results never outgrows one round. Only a call that finds no result this way is looked up properly.
fn without_result(msg: &Msg) -> Vec<&ToolCallBlock> {
    let mut open_results = SmallVec::<[_; 8]>::new();
    let mut calls = Vec::new();
    for block in msg.content.iter().rev() {
        match block {
            ContentBlock::ToolResult(result) => open_results.push(&result.id),
            ContentBlock::ToolCall(call) => match open_results.iter().position(|id| **id == call.id) {
                Some(at) => {
                    open_results.swap_remove(at);
                }
                None if msg.tool_result(&call.id).is_none() => calls.push(call),
                None => {} // a second call with the id of a finished one
            },
            _ => {}
        }
    }
    calls.reverse();
    calls
}
