//! Which tool calls of the reply at hand still want something.

use smallvec::SmallVec;

use super::AgentState;
use crate::message::{ContentBlock, Msg, Role, ToolCallBlock, ToolCallState};

impl AgentState {
    /// The tool calls that wait for somebody outside, for a person's answer or a result from elsewhere: those of the
    /// agent `name` in the reply at hand, also where layers have put messages after it, or else in the last message.
    #[must_use]
    pub fn awaiting_tool_calls(&self, name: &str) -> Vec<&ToolCallBlock> {
        let Some(msg) = self.place_of_reply(name).map(|place| &*self.context[place]) else {
            return Vec::new();
        };
        msg.tool_calls().filter(|call| is_awaiting(msg, call)).collect()
    }

    /// Whether the reply waits for somebody outside, see [`awaiting_tool_calls`](Self::awaiting_tool_calls).
    #[must_use]
    pub fn has_awaiting_tool_calls(&self, name: &str) -> bool {
        self.place_of_parked(name).is_some()
    }

    /// Where the message stands whose calls wait for somebody outside.
    pub(crate) fn place_of_parked(&self, name: &str) -> Option<usize> {
        let place = self.place_of_reply(name)?;
        let msg = &*self.context[place];
        msg.tool_calls().any(|call| is_awaiting(msg, call)).then_some(place)
    }

    /// The tool calls of the reply at hand, which the agent `name` writes, that have no result yet.
    #[must_use]
    pub fn unfinished_tool_calls(&self, name: &str) -> Vec<&ToolCallBlock> {
        match self.place_of_reply(name).map(|place| &*self.context[place]) {
            Some(msg) if msg.id == *self.reply_id() => without_result(msg),
            _ => Vec::new(),
        }
    }

    /// Where the message of the reply at hand stands; the last message if there is none.
    fn place_of_reply(&self, name: &str) -> Option<usize> {
        let is_own = |msg: &Msg| msg.role == Role::Assistant && *msg.name == *name;
        let of_reply = self.context.iter().rposition(|msg| msg.id == *self.reply_id() && is_own(msg));
        of_reply.or_else(|| self.context.len().checked_sub(1).filter(|last| is_own(&self.context[*last])))
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
