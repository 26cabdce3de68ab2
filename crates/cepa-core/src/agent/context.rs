//! Reading and mending the context: which message is the reply's, which calls are open, who has no result.

use std::{collections::HashSet, sync::Arc};

use crate::{
    id::Id,
    message::{
        ContentBlock, Msg, Role, ToolCallBlock, ToolCallState, ToolOutput, ToolResultBlock, ToolResultState,
        Usage,
    },
    state::AgentState,
    texts,
};

fn is_by(msg: &Msg, name: &str) -> bool {
    msg.role == Role::Assistant && *msg.name == *name
}

/// The message of the reply at hand, wherever layers have put others after it.
pub(super) fn reply_message<'a>(state: &'a AgentState, name: &str) -> Option<&'a Msg> {
    state.context.iter().rev().map(|msg| &**msg).find(|msg| is_by(msg, name) && msg.id == *state.reply_id())
}

/// As [`reply_message`], to be changed.
pub(super) fn reply_message_mut<'a>(state: &'a mut AgentState, name: &str) -> Option<&'a mut Arc<Msg>> {
    let reply_id = &state.reply_context.reply_id;
    state.context.iter_mut().rev().find(|msg| is_by(msg, name) && msg.id == *reply_id)
}

/// The calls of the reply at hand that may run now, or that wait for somebody.
pub(super) struct OpenCalls {
    pub(super) executable: Vec<ToolCallBlock>,
    pub(super) awaiting: bool,
    /// Whether any call of the reply has no result.
    pub(super) unfinished: bool,
}

/// Looks through the reply's calls. With a call that waits for somebody, pending ones are blocked and wait too.
pub(super) fn open_calls(state: &AgentState, name: &str) -> OpenCalls {
    let Some(msg) = reply_message(state, name) else {
        return OpenCalls { executable: Vec::new(), awaiting: false, unfinished: false };
    };
    let open = open_in_last_round(msg);
    let awaiting = open.iter().any(|call| is_awaiting(call));
    let may_run = |call: &ToolCallBlock| match call.state {
        ToolCallState::Allowed => true,
        ToolCallState::Pending => !awaiting,
        ToolCallState::Asking | ToolCallState::Submitted | ToolCallState::Finished => false,
    };
    let executable = open.iter().filter(|call| may_run(call)).map(|call| (*call).clone()).collect();
    OpenCalls { executable, awaiting, unfinished: !open.is_empty() }
}

pub(super) fn is_awaiting(call: &ToolCallBlock) -> bool {
    matches!(call.state, ToolCallState::Asking | ToolCallState::Submitted)
}

/// The calls of a reply's last round that have no result.
///
/// The loop asks several times per round, so this looks at that round only: it never goes on to another one before
/// every call of the last has its result, and [`pair_all_calls`] mends what was loaded.
fn open_in_last_round(msg: &Msg) -> Vec<&ToolCallBlock> {
    let (mut open, mut has_calls, mut results) = (Vec::new(), false, Vec::new());
    for block in msg.content.iter().rev() {
        match block {
            ContentBlock::ToolCall(call) => {
                has_calls = true;
                if !results.contains(&&call.id) {
                    open.push(call);
                }
            }
            ContentBlock::ToolResult(_) if has_calls => break,
            ContentBlock::ToolResult(result) => results.push(&result.id),
            _ => {}
        }
    }
    open.reverse();
    open
}

/// The calls of a message that have no result in it.
pub(super) fn without_result(msg: &Msg) -> Vec<&ToolCallBlock> {
    // Results mostly stand in the order of their calls; so in the long message of a many-round reply this leaves only
    // the last few calls to be looked up.
    let mut results = msg.tool_results().peekable();
    let unsure = |call: &&ToolCallBlock| results.next_if(|result| result.id == call.id).is_none();
    let mut open: Vec<_> = msg.tool_calls().filter(unsure).collect();
    if open.len() <= FEW {
        open.retain(|call| msg.tool_results().rev().all(|result| result.id != call.id));
    } else {
        let known: HashSet<&Id> = msg.tool_results().map(|result| &result.id).collect();
        open.retain(|call| !known.contains(&call.id));
    }
    open
}

/// So many ids are looked up faster one by one than with a set.
const FEW: usize = 4;

/// Changes the call with this id, in the reply's own message.
pub(super) fn update_call(state: &mut AgentState, id: &Id, change: impl FnOnce(&mut ToolCallBlock)) {
    if let Some(msg) = message_of_call(state, id)
        && let Some(call) = Arc::make_mut(msg).tool_calls_mut().rev().find(|call| call.id == *id)
    {
        change(call);
    }
}

pub(super) fn set_call_state(state: &mut AgentState, id: &Id, to: ToolCallState) {
    update_call(state, id, |call| call.state = to);
}

/// Stores a result in the message that holds its call, so that the two never part.
pub(super) fn store_result(state: &mut AgentState, name: &str, result: ToolResultBlock) {
    let id = result.id.clone();
    match message_of_call(state, &id) {
        Some(msg) => Arc::make_mut(msg).content.push(ContentBlock::ToolResult(result)),
        None => state.append_context(name, [ContentBlock::ToolResult(result)]),
    }
    set_call_state(state, &id, ToolCallState::Finished);
}

fn message_of_call<'a>(state: &'a mut AgentState, id: &Id) -> Option<&'a mut Arc<Msg>> {
    state.context.iter_mut().rev().find(|msg| msg.tool_calls().rev().any(|call| call.id == *id))
}

/// Whether a call of the context has this id already.
pub(super) fn is_call_id_taken(state: &AgentState, id: &Id) -> bool {
    state.context.iter().rev().any(|msg| msg.tool_calls().any(|call| call.id == *id))
}

/// What the reply at hand has spent so far.
pub(super) fn reply_usage(state: &AgentState, name: &str) -> Option<Usage> {
    usage_in(state, name, &state.context)
}

/// What the reply at hand has spent, as far as these messages are of it.
pub(super) fn usage_in(state: &AgentState, name: &str, messages: &[Arc<Msg>]) -> Option<Usage> {
    let own = messages.iter().filter(|msg| is_by(msg, name) && msg.id == *state.reply_id());
    own.filter_map(|msg| msg.usage.clone()).reduce(|mut sum, usage| {
        sum += usage;
        sum
    })
}

/// Adds to what the reply at hand has spent: to its message, which is begun if there is none.
pub(super) fn add_reply_usage(state: &mut AgentState, name: &str, usage: Usage) {
    if reply_message(state, name).is_none() {
        state.append_context(name, []);
    }
    if let Some(msg) = reply_message_mut(state, name) {
        Arc::make_mut(msg).add_usage(usage);
    }
}

/// The reply was dropped or has failed: calls that it left open get a result. Calls that wait for somebody stay
/// open, and so do those that wait beside them without having begun.
pub(super) fn close_abandoned_calls(state: &mut AgentState, name: &str) {
    let Some(msg) = reply_message(state, name) else { return };
    let open = without_result(msg);
    let parked = open.iter().any(|call| is_awaiting(call));
    let abandoned: Vec<_> = open
        .into_iter()
        .filter(|call| if parked { call.state == ToolCallState::Allowed } else { true })
        .map(|call| (call.id.clone(), call.name.clone()))
        .collect();
    for (id, tool) in abandoned {
        store_result(state, name, interrupted_result(id, tool));
    }
}

/// Before a new reply: every call in the context gets a result, right in its message. A state that was saved in the
/// middle of a tool, by a crash or an older version, may hold calls without one; they are not run again.
pub(super) fn pair_all_calls(state: &mut AgentState) {
    for place in 0..state.context.len() {
        let msg = &state.context[place];
        let open = without_result(msg);
        if open.is_empty() {
            continue;
        }
        let later: HashSet<&Id> = state.context[place + 1..]
            .iter()
            .flat_map(|msg| msg.tool_results().map(|result| &result.id))
            .collect();
        let missing: Vec<_> = open
            .into_iter()
            .filter(|call| !later.contains(&call.id))
            .map(|call| (call.id.clone(), call.name.clone()))
            .collect();
        if missing.is_empty() {
            continue;
        }
        let msg = Arc::make_mut(&mut state.context[place]);
        for (id, tool) in missing {
            if let Some(call) = msg.tool_calls_mut().rev().find(|call| call.id == id) {
                call.state = ToolCallState::Finished;
            }
            msg.content.push(ContentBlock::ToolResult(interrupted_result(id, tool)));
        }
    }
}

fn interrupted_result(id: Id, tool: Arc<str>) -> ToolResultBlock {
    let output = ToolOutput::from(texts::TOOL_INTERRUPTED);
    ToolResultBlock::new(id, tool, output, ToolResultState::Interrupted)
}
