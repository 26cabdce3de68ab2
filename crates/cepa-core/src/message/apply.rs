//! [`Msg::apply_event`]: a client's copy of a reply, built from its events.

use super::{
    ContentBlock, DataBlock, ErrorInfo, HintBlock, Msg, OutputBlock, ReplyFinishedReason, Source, TextBlock,
    ThinkingBlock, ToolCallBlock, ToolCallState, ToolResultBlock, ToolResultState, Usage,
};
use crate::{
    event::{AgentEvent, DataDelta, EventKind, ExternalExecutionResultEvent, UserConfirmResultEvent},
    id::Id,
    time::Timestamp,
};

/// Why an event changed nothing although it should have.
#[derive(Debug)]
struct Unknown(&'static str);

impl Msg {
    /// Applies an event of this reply, so that the message becomes what the agent's own is: blocks grow, calls change
    /// state, usage adds up, and the end is stamped (AgentScope 2.0.11, `Msg.append_event`).
    ///
    /// Returns whether the event could be applied. One of another reply, or about a block that is not there, changes
    /// nothing and is logged as a warning. Events that say nothing about the content are fine and change nothing.
    ///
    /// ```
    /// use cepa_core::{AgentEvent, EventKind, Msg};
    ///
    /// let mut msg = Msg::assistant("Friday", vec![]).with_id("r1");
    /// let [reply_id, block_id] = ["r1", "b1"].map(cepa_core::Id::from);
    /// let start = EventKind::TextBlockStart { reply_id: reply_id.clone(), block_id: block_id.clone() };
    /// let delta = EventKind::TextBlockDelta { reply_id, block_id, delta: "hi".into() };
    /// assert!(msg.apply_event(&AgentEvent::new(start)));
    /// assert!(msg.apply_event(&AgentEvent::new(delta)));
    /// assert_eq!(msg.text().as_deref(), Some("hi"));
    /// ```
    pub fn apply_event(&mut self, event: &AgentEvent) -> bool {
        if event.reply_id().is_some_and(|reply_id| *reply_id != self.id) {
            tracing::warn!(event = event.event_type(), message = %self.id, "event of another reply ignored");
            return false;
        }
        let applied = self.apply(event);
        if let Err(Unknown(what)) = &applied {
            tracing::warn!(event = event.event_type(), message = %self.id, "event ignored: {what}");
        }
        applied.is_ok()
    }

    fn apply(&mut self, event: &AgentEvent) -> Result<(), Unknown> {
        let at = &event.created_at;
        match &event.kind {
            EventKind::ReplyEnd { finished_reason, error, .. } => {
                self.finish(at, *finished_reason, error.as_ref());
            }
            EventKind::ModelCallEnd {
                input_tokens,
                output_tokens,
                cache_input_tokens,
                cache_creation_input_tokens,
                ..
            } => self.add_usage(Usage {
                cache_input_tokens: *cache_input_tokens,
                cache_creation_input_tokens: *cache_creation_input_tokens,
                ..Usage::new(*input_tokens, *output_tokens)
            }),

            EventKind::TextBlockStart { block_id, .. } => {
                self.push(TextBlock { created_at: at.clone(), ..TextBlock::new("").with_id(block_id) });
            }
            EventKind::TextBlockDelta { block_id, delta, .. } => {
                self.text_block(block_id)?.text.push_str(delta);
            }
            EventKind::TextBlockEnd { block_id, text, .. } => {
                let block = self.text_block(block_id)?;
                if let Some(text) = text {
                    block.text.clone_from(text);
                }
                block.finished_at = Some(at.clone());
            }

            EventKind::ThinkingBlockStart { block_id, .. } => {
                self.push(ThinkingBlock {
                    created_at: at.clone(),
                    ..ThinkingBlock::new("").with_id(block_id)
                });
            }
            EventKind::ThinkingBlockDelta { block_id, delta, .. } => {
                self.thinking_block(block_id)?.thinking.push_str(delta);
            }
            EventKind::ThinkingBlockEnd { block_id, .. } => {
                self.thinking_block(block_id)?.finished_at = Some(at.clone());
            }

            EventKind::DataBlockStart { block_id, media_type, name, .. } => {
                let source = Source::base64("", media_type.clone());
                let block = DataBlock::new(source).with_id(block_id);
                self.push(DataBlock { name: name.clone(), created_at: at.clone(), ..block });
            }
            EventKind::DataBlockDelta { block_id, media_type, delta, .. } => {
                append_data(&mut self.data_block(block_id)?.source, media_type, delta)?;
            }
            EventKind::DataBlockEnd { block_id, .. } => {
                self.data_block(block_id)?.finished_at = Some(at.clone());
            }

            EventKind::HintBlock { block_id, source, hint, .. } => self.push(HintBlock {
                source: source.clone(),
                created_at: at.clone(),
                finished_at: Some(at.clone()),
                ..HintBlock::new(hint.clone()).with_id(block_id)
            }),

            EventKind::ToolCallStart { tool_call_id, tool_call_name, .. } => {
                let call = ToolCallBlock::new(tool_call_id, tool_call_name.clone(), "");
                self.push(ToolCallBlock { created_at: at.clone(), ..call });
            }
            EventKind::ToolCallDelta { tool_call_id, delta, .. } => {
                self.call(tool_call_id)?.input.push_str(delta);
            }
            EventKind::ToolCallEnd { tool_call_id, .. } => {
                self.call(tool_call_id)?.finished_at = Some(at.clone());
            }

            EventKind::ToolResultStart { tool_call_id, tool_call_name, .. } => {
                let (name, state) = (tool_call_name.clone(), ToolResultState::Running);
                let result = ToolResultBlock::new(tool_call_id, name, vec![], state);
                self.push(ToolResultBlock { created_at: at.clone(), ..result });
            }
            EventKind::ToolResultTextDelta { tool_call_id, delta, .. } => {
                self.result(tool_call_id)?.output.update_blocks(|output| append_text(output, delta, at));
            }
            EventKind::ToolResultDataDelta { tool_call_id, block_id, media_type, delta, .. } => {
                let output = &mut self.result(tool_call_id)?.output;
                output.update_blocks(|output| append_output_data(output, block_id, media_type, delta, at))?;
            }
            EventKind::ToolResultEnd { tool_call_id, state, .. } => {
                let result = self.result(tool_call_id)?;
                result.state = *state;
                result.metadata = event.metadata.clone();
                result.finished_at = Some(at.clone());
                if let Ok(call) = self.call(tool_call_id) {
                    call.state = ToolCallState::Finished;
                }
            }

            EventKind::RequireUserConfirm { tool_calls, .. } => {
                return self.each_call(tool_calls.iter().map(|asked| (&asked.id, asked)), |call, asked| {
                    call.state = ToolCallState::Asking;
                    call.suggested_rules.clone_from(&asked.suggested_rules);
                });
            }
            EventKind::RequireExternalExecution { tool_calls, .. } => {
                return self.each_call(tool_calls.iter().map(|submitted| (&submitted.id, ())), |call, ()| {
                    call.state = ToolCallState::Submitted;
                });
            }
            EventKind::UserConfirmResult(UserConfirmResultEvent { confirm_results, .. }) => {
                let answers = confirm_results.iter().map(|answer| (&answer.tool_call.id, answer.confirmed));
                return self.each_call(answers, |call, confirmed| {
                    // an answer that comes late, after an interrupt, must not open the call again
                    if call.state == ToolCallState::Asking {
                        call.state = if confirmed { ToolCallState::Allowed } else { ToolCallState::Finished };
                    }
                });
            }
            EventKind::ExternalExecutionResult(ExternalExecutionResultEvent {
                execution_results, ..
            }) => {
                for result in execution_results {
                    if self.tool_result(&result.id).is_none() {
                        let finished_at = result.finished_at.clone().or_else(|| Some(at.clone()));
                        self.push(ToolResultBlock { finished_at, ..result.clone() });
                    }
                }
            }

            EventKind::ReplyStart { .. }
            | EventKind::ModelCallStart { .. }
            | EventKind::UserInterrupt(_)
            | EventKind::ExceedMaxIters { .. }
            | EventKind::Custom { .. } => {}
        }
        Ok(())
    }

    fn finish(&mut self, at: &Timestamp, reason: ReplyFinishedReason, error: Option<&ErrorInfo>) {
        self.finished_at = Some(at.clone());
        self.finished_reason = Some(reason);
        self.error = error.cloned();
    }

    /// Changes each of these calls; one that is not there does not keep the others from it.
    fn each_call<'a, T>(
        &mut self,
        calls: impl Iterator<Item = (&'a Id, T)>,
        mut change: impl FnMut(&mut ToolCallBlock, T),
    ) -> Result<(), Unknown> {
        let mut applied = Ok(());
        for (id, with) in calls {
            match self.call(id) {
                Ok(call) => change(call, with),
                Err(unknown) => applied = Err(unknown),
            }
        }
        applied
    }

    fn push(&mut self, block: impl Into<ContentBlock>) {
        self.content.push(block.into());
    }
}

/// Finders of the block an event is about. It is one of the last as a rule, so they look from the end.
macro_rules! finders {
    ($($name:ident, $variant:ident($block:ident), $unknown:literal;)+) => {
        impl Msg {
            $(
                fn $name(&mut self, id: &Id) -> Result<&mut $block, Unknown> {
                    self.content
                        .iter_mut()
                        .rev()
                        .find_map(|block| match block {
                            ContentBlock::$variant(block) if block.id == *id => Some(block),
                            _ => None,
                        })
                        .ok_or(Unknown($unknown))
                }
            )+
        }
    };
}

finders! {
    text_block, Text(TextBlock), "no such text block";
    thinking_block, Thinking(ThinkingBlock), "no such thinking block";
    data_block, Data(DataBlock), "no such data block";
    call, ToolCall(ToolCallBlock), "no such tool call";
    result, ToolResult(ToolResultBlock), "no such tool result";
}

/// Continues the text at the end of a tool's output, or begins one.
fn append_text(output: &mut Vec<OutputBlock>, delta: &str, at: &Timestamp) {
    if let Some(OutputBlock::Text(last)) = output.last_mut() {
        last.text.push_str(delta);
    } else {
        output.push(TextBlock { created_at: at.clone(), ..TextBlock::new(delta) }.into());
    }
}

/// Continues the data block `id` of a tool's output, or begins it. An address is always a block of its own.
fn append_output_data(
    output: &mut Vec<OutputBlock>,
    id: &Id,
    media_type: &std::sync::Arc<str>,
    delta: &DataDelta,
    at: &Timestamp,
) -> Result<(), Unknown> {
    let open = output.iter_mut().find_map(|block| match block {
        OutputBlock::Data(DataBlock { id: found, source: source @ Source::Base64 { .. }, .. })
            if found == id =>
        {
            Some(source)
        }
        _ => None,
    });
    if let (Some(source), DataDelta::Base64(_)) = (open, delta) {
        return append_data(source, media_type, delta);
    }
    let source = match delta {
        DataDelta::Base64(data) => Source::base64(data.clone(), media_type.clone()),
        DataDelta::Url(url) => Source::url(url.clone(), media_type.clone()),
    };
    output.push(DataBlock { created_at: at.clone(), ..DataBlock::new(source).with_id(id) }.into());
    Ok(())
}

/// Appends bytes; an address, which is the whole content, replaces what was there.
fn append_data(
    source: &mut Source,
    media_type: &std::sync::Arc<str>,
    delta: &DataDelta,
) -> Result<(), Unknown> {
    match (source, delta) {
        (Source::Base64 { data, media_type: old, .. }, DataDelta::Base64(more)) => {
            super::base64::append(data, more).map_err(|_| Unknown("its data is not base64"))?;
            if !media_type.is_empty() {
                *old = media_type.clone();
            }
        }
        (source, DataDelta::Base64(data)) => *source = Source::base64(data.clone(), media_type.clone()),
        (source, DataDelta::Url(url)) => *source = Source::url(url.clone(), media_type.clone()),
    }
    Ok(())
}
