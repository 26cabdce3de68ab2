//! What must hold of the events of a conversation.

use std::collections::{HashMap, HashSet};

use cepa_core::{
    AgentEvent, AgentState, ContentBlock, Error, ErrorKind, EventKind, Id, Msg, OutputBlock,
    ReplyFinishedReason, ToolOutput, ToolResultState, Waiting,
};

use super::{
    drive::Violation,
    script::{HookKind, LayerDoes, Script},
};

/// What was seen of a conversation so far.
#[derive(Default)]
pub(crate) struct Seen {
    started: HashSet<Id>,
    ended: HashSet<Id>,
    /// Calls whose result has begun.
    running: HashSet<Id>,
    /// The copy that a client has of the reply at hand; `None` when it is over.
    copy: Option<Msg>,
    /// Whether the copy must be what the context holds.
    is_whole: bool,
}

impl Seen {
    /// The events of one turn.
    pub(crate) fn turn(
        &mut self,
        events: &[AgentEvent],
        parked: Option<&Waiting>,
        result: Result<&Msg, &Error>,
        script: &Script,
    ) -> Result<(), Violation> {
        let cuts = [LayerDoes::RaiseInTap, LayerDoes::HangAfter, LayerDoes::ReadThenSend];
        let cuts_off = script.has(HookKind::Reply, &cuts) || script.has(HookKind::Reasoning, &cuts);
        let mut open: HashMap<(&Id, &str), usize> = HashMap::new();
        for event in events {
            self.copy(event, cuts_off)?;
            match &event.kind {
                EventKind::ReplyStart { reply_id, .. } if !self.started.insert(reply_id.clone()) => {
                    return Err(format!("two REPLY_START of {reply_id}"));
                }
                EventKind::ReplyEnd { reply_id, .. } if !self.ended.insert(reply_id.clone()) => {
                    return Err(format!("two REPLY_END of {reply_id}"));
                }
                EventKind::ToolResultStart { tool_call_id, .. }
                    if !self.running.insert(tool_call_id.clone()) =>
                {
                    return Err(format!("two TOOL_RESULT_START of {tool_call_id}"));
                }
                EventKind::ToolResultEnd { tool_call_id, .. }
                    if !self.running.remove(tool_call_id) && !cuts_off =>
                {
                    return Err(format!("TOOL_RESULT_END of {tool_call_id} without its start"));
                }
                kind => match block_of(kind) {
                    Some((id, what, true)) => *open.entry((id, what)).or_default() += 1,
                    // A call may go on after its end, and ends again.
                    Some((id, what, false)) if open.remove(&(id, what)).is_none() && what != "tool call" => {
                        return Err(format!("the {what} block {id} ends without having begun"));
                    }
                    _ => {}
                },
            }
        }
        if !cuts_off && let Some(((id, what), _)) = open.into_iter().next() {
            return Err(format!("the {what} block {id} has no end"));
        }
        let has_begun = events.iter().any(|event| event.reply_id().is_some());
        if has_begun && script.swallows_all_ends() && result.is_ok_and(has_run_to_its_end) {
            return Err("the reply has come to an end that a layer has dropped".to_owned());
        }
        let may_lack_end = script.has(HookKind::Reply, &[LayerDoes::SwallowEnd])
            && result.map_or_else(
                |error| matches!(error.kind(), ErrorKind::Interrupted),
                |message| message.finished_reason == Some(ReplyFinishedReason::Interrupted),
            );
        if may_lack_end {
            self.running.clear();
            return Ok(());
        }
        self.check_end(events, parked, result, cuts_off)
    }

    fn check_end(
        &mut self,
        events: &[AgentEvent],
        parked: Option<&Waiting>,
        result: Result<&Msg, &Error>,
        cuts_off: bool,
    ) -> Result<(), Violation> {
        let Some(reply_id) = events.iter().find_map(AgentEvent::reply_id) else { return Ok(()) };
        let ended = self.ended.contains(reply_id);
        self.is_whole = result.is_ok();
        if let Some(waiting) = parked {
            if result.is_ok() && ended {
                return Err(format!("reply {reply_id} has ended, and yet it waits for {waiting:?}"));
            }
            let submitted: HashSet<&Id> = waiting.external.iter().map(|call| &call.id).collect();
            if let Some(id) = self.running.iter().find(|id| !submitted.contains(id))
                && result.is_ok()
                && !cuts_off
            {
                return Err(format!("the result of {id} has no end, and is not waited for"));
            }
            return Ok(());
        }
        if !ended {
            return Err(format!("reply {reply_id} is over, and has no REPLY_END: {result:?}"));
        }
        if !cuts_off && let Some(id) = self.running.iter().next() {
            return Err(format!("the result of {id} has no end"));
        }
        self.running.clear();
        Ok(())
    }

    fn copy(&mut self, event: &AgentEvent, cuts_off: bool) -> Result<(), Violation> {
        if let EventKind::ReplyStart { reply_id, name, .. } = &event.kind {
            self.copy = Some(Msg::assistant(name.clone(), Vec::new()).with_id(reply_id));
        }
        // A layer may have held the beginning of a reply back for ever.
        self.copy.take_if(|copy| event.reply_id().is_some_and(|id| *id != copy.id));
        if self.copy.as_mut().is_none_or(|copy| copy.apply_event(event)) {
            return Ok(());
        }
        // A layer that failed at the start of a result has lost it; the core closes the call all the same.
        let lacks_start = result_of(&event.kind).is_some_and(|id| !self.running.contains(id));
        if cuts_off && lacks_start { Ok(()) } else { Err(format!("an event cannot be applied: {event:?}")) }
    }

    /// Whether the copy says what the context says.
    pub(crate) fn check_rebuilt(&self, state: &AgentState) -> Result<(), Violation> {
        let Some(copy) = self.copy.as_ref().filter(|_| self.is_whole) else { return Ok(()) };
        let own = state.context.iter().filter(|msg| msg.id == copy.id);
        let kept = Said::of(own.flat_map(|msg| &msg.content));
        let copied = Said::of(&copy.content);
        if kept == copied { Ok(()) } else { Err(format!("the events say {copied:?}\nthe context {kept:?}")) }
    }
}

fn has_run_to_its_end(message: &Msg) -> bool {
    let ends = [ReplyFinishedReason::Completed, ReplyFinishedReason::ExceedMaxIters];
    message.finished_reason.is_some_and(|reason| ends.contains(&reason))
}

/// The block that an event begins (`true`) or ends.
fn block_of(kind: &EventKind) -> Option<(&Id, &'static str, bool)> {
    Some(match kind {
        EventKind::TextBlockStart { block_id, .. } => (block_id, "text", true),
        EventKind::TextBlockEnd { block_id, .. } => (block_id, "text", false),
        EventKind::ThinkingBlockStart { block_id, .. } => (block_id, "thinking", true),
        EventKind::ThinkingBlockEnd { block_id, .. } => (block_id, "thinking", false),
        EventKind::DataBlockStart { block_id, .. } => (block_id, "data", true),
        EventKind::DataBlockEnd { block_id, .. } => (block_id, "data", false),
        EventKind::ToolCallStart { tool_call_id, .. } => (tool_call_id, "tool call", true),
        EventKind::ToolCallEnd { tool_call_id, .. } => (tool_call_id, "tool call", false),
        _ => return None,
    })
}

/// The call whose result an event goes on with or ends.
fn result_of(kind: &EventKind) -> Option<&Id> {
    match kind {
        EventKind::ToolResultTextDelta { tool_call_id, .. }
        | EventKind::ToolResultDataDelta { tool_call_id, .. }
        | EventKind::ToolResultEnd { tool_call_id, .. } => Some(tool_call_id),
        _ => None,
    }
}

/// What a reply says, however it is divided into blocks.
#[derive(Debug, Default, PartialEq)]
struct Said {
    text: String,
    thinking: String,
    calls: Vec<Id>,
    results: Vec<(Id, ToolResultState, String)>,
}

impl Said {
    fn of<'a>(blocks: impl IntoIterator<Item = &'a ContentBlock>) -> Self {
        let mut said = Self::default();
        for block in blocks {
            match block {
                ContentBlock::Text(block) => said.text.push_str(&block.text),
                ContentBlock::Thinking(block) => said.thinking.push_str(&block.thinking),
                ContentBlock::ToolCall(call) => said.calls.push(call.id.clone()),
                // A result that is waited for has begun for the client only.
                ContentBlock::ToolResult(result) if result.state != ToolResultState::Running => {
                    said.results.push((result.id.clone(), result.state, text_of(&result.output)));
                }
                _ => {}
            }
        }
        said.results.sort_by(|one, other| one.0.cmp(&other.0));
        said
    }
}

fn text_of(output: &ToolOutput) -> String {
    match output {
        ToolOutput::Text(text) => text.clone(),
        ToolOutput::Blocks(blocks) => blocks.iter().filter_map(OutputBlock::as_text).collect(),
    }
}
