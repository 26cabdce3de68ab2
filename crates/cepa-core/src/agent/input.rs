//! Taking a reply's input in: new messages, or the answers that a parked reply waits for.

use std::sync::Arc;

use serde_json::Value;

use super::{context, emit::Events, scope::ReplyScope};
use crate::{
    chain::{Cx, Reply},
    error::{ErrorKind, Result},
    event::{ConfirmResult, ExternalExecutionResultEvent, UserConfirmResultEvent, UserInterruptEvent},
    id::Id,
    message::{
        ContentBlock, DataBlock, Msg, Role, Source, TextBlock, ToolCallBlock, ToolCallState, ToolOutput,
        ToolResultBlock, ToolResultState,
    },
    state::{AgentState, ReplyContext},
    texts::{self, fill},
    tool::Validator,
};

impl ReplyScope {
    /// Begins a new reply with these messages.
    pub(super) async fn start_new(&self, messages: &[Arc<Msg>], schema: Option<Arc<Value>>) -> Result<()> {
        self.refuse_if_waiting()?;
        let messages = self.prepare(messages).await?;
        let mut state = self.state()?;
        context::pair_all_calls(&mut state);
        state.context.extend(messages);
        let mut reply = ReplyContext::new();
        if let Some(id) = self.coming() {
            reply.reply_id = id.clone();
        }
        reply.structured_schema = schema.map(Arc::unwrap_or_clone);
        state.reply_context = reply;
        drop(state);
        self.run_state().begun = true;
        Ok(())
    }

    fn refuse_if_waiting(&self) -> Result<()> {
        let state = self.state()?;
        let waiting = state.awaiting_tool_calls(&self.definition.name);
        if waiting.is_empty() {
            return Ok(());
        }
        let confirmations = waiting.iter().filter(|call| call.state == ToolCallState::Asking).count();
        Err(ErrorKind::AgentIsWaiting { confirmations, external: waiting.len() - confirmations }.into())
    }

    /// Checks messages of an input, and replaces what the model cannot read.
    pub(super) async fn prepare(&self, messages: &[Arc<Msg>]) -> Result<Vec<Arc<Msg>>> {
        let mut prepared = Vec::with_capacity(messages.len());
        for message in messages {
            check_message(message)?;
            prepared.push(self.readable(message).await?);
        }
        Ok(prepared)
    }

    async fn readable(&self, message: &Arc<Msg>) -> Result<Arc<Msg>> {
        let types = self.definition.model.input_media_types();
        let unreadable = |block: &ContentBlock| match block {
            ContentBlock::Data(data) => !types.iter().any(|pattern| matches(pattern, data.media_type())),
            _ => false,
        };
        if !message.content.iter().any(unreadable) {
            return Ok(message.clone());
        }
        let mut message = (**message).clone();
        for block in &mut message.content {
            if unreadable(block)
                && let ContentBlock::Data(data) = &*block
            {
                *block = TextBlock::new(self.file_reminder(data).await?).into();
            }
        }
        Ok(Arc::new(message))
    }

    async fn file_reminder(&self, data: &DataBlock) -> Result<String> {
        let url = self.kept_at(data).await?;
        let name = reminder_name(data);
        Ok(match url {
            Some(url) => fill(texts::REMINDER_FILE_SAVED, &[("name", &name), ("url", &url)]),
            None => {
                let values = [("name", name.as_str()), ("media_type", data.media_type())];
                fill(texts::REMINDER_UNSUPPORTED_FILE, &values)
            }
        })
    }

    /// Where a data block is, or is kept from now on.
    pub(super) async fn kept_at(&self, data: &DataBlock) -> Result<Option<String>> {
        match (&data.source, &self.definition.offloader) {
            (Source::Url { url, .. }, _) => Ok(Some(url.clone())),
            (_, Some(offloader)) => offloader.offload_data_block(data).await,
            _ => Ok(None),
        }
    }

    /// Ends a parked reply; an error when there is none.
    pub(super) fn accept_interrupt(&self, event: &UserInterruptEvent) -> Result<()> {
        let state = self.state()?;
        if !state.has_awaiting_tool_calls(&self.definition.name) {
            return Err(ErrorKind::NoFinalMessage.into());
        }
        check_reply_id(&state, &event.reply_id)
    }

    /// Takes a person's answers in: refused calls get their result, allowed ones run in the next step.
    pub(super) async fn resume_confirmed(&self, cx: &Cx<Reply>, event: UserConfirmResultEvent) -> Result<()> {
        let asked = {
            let state = self.state()?;
            let asked = self.awaiting(&state, ToolCallState::Asking);
            if asked.is_empty() {
                return Err(ErrorKind::NotWaitingForConfirmation.into());
            }
            check_reply_id(&state, &event.reply_id)?;
            asked
        };
        let answered = event.confirm_results.iter().map(|result| &result.tool_call.id);
        let unknown = ids_beside(answered, &asked);
        if !unknown.is_empty() {
            return Err(ErrorKind::UnknownConfirmIds(unknown).into());
        }
        self.run_state().begun = true;
        let events = Events::new(cx, event.reply_id.clone());
        for call in &asked {
            // The last answer to a question counts.
            let answers = event.confirm_results.iter().rev();
            let Some(answer) = answers.clone().find(|answer| answer.tool_call.id == call.id) else {
                continue;
            };
            if answer.confirmed {
                self.allow(call, answer)?;
            } else {
                self.refuse(&events, call, answer.reason.as_deref()).await?;
            }
        }
        Ok(())
    }

    fn allow(&self, call: &ToolCallBlock, answer: &ConfirmResult) -> Result<()> {
        let renamed = call.name != answer.tool_call.name;
        let edited = renamed || call.input != answer.tool_call.input;
        let mut state = self.state()?;
        context::update_call(&mut state, &call.id, |call| {
            call.state = ToolCallState::Allowed;
            call.name = answer.tool_call.name.clone();
            call.input.clone_from(&answer.tool_call.input);
        });
        for rule in answer.rules.iter().flatten() {
            state.permission_context.add_rule(rule.clone());
        }
        drop(state);
        if edited {
            // What will really run was not what was asked about: it is checked again.
            self.run_state().edited.push((call.id.clone(), renamed));
        }
        Ok(())
    }

    async fn refuse(&self, events: &Events, call: &ToolCallBlock, reason: Option<&str>) -> Result<()> {
        let text = match reason {
            None => fill(texts::TOOL_DENIED_BY_USER, &[("name", &call.name)]),
            Some(reason) => {
                fill(texts::TOOL_DENIED_BY_USER_BECAUSE, &[("name", &call.name), ("reason", reason)])
            }
        };
        if self.definition.react.stop_on_reject {
            self.run_state().stop_after_reject = true;
        }
        self.close_call(events, call, &text, ToolResultState::Denied).await
    }

    /// Takes results from outside in.
    pub(super) async fn resume_external(
        &self,
        cx: &Cx<Reply>,
        event: ExternalExecutionResultEvent,
    ) -> Result<()> {
        {
            let state = self.state()?;
            let submitted = self.awaiting(&state, ToolCallState::Submitted);
            if submitted.is_empty() {
                return Err(ErrorKind::NotWaitingForExternalResult.into());
            }
            check_reply_id(&state, &event.reply_id)?;
            let unknown = ids_beside(event.execution_results.iter().map(|result| &result.id), &submitted);
            if !unknown.is_empty() {
                return Err(ErrorKind::UnknownExternalIds(unknown).into());
            }
        }
        for result in &event.execution_results {
            self.check_external_result(result)?;
        }
        self.run_state().begun = true;
        let events = Events::new(cx, event.reply_id.clone());
        for mut result in event.execution_results {
            match &result.output {
                ToolOutput::Text(text) => events.tool_text(&result.id, text.clone()).await,
                ToolOutput::Blocks(blocks) => {
                    for block in blocks {
                        events.tool_output(&result.id, block).await;
                    }
                }
            }
            if result.state == ToolResultState::Running {
                result.state = ToolResultState::Success;
            }
            let (id, state, metadata) = (result.id.clone(), result.state, result.metadata.clone());
            context::store_result(&mut *self.state()?, &self.definition.name, result);
            self.end_result(&events, &id, state, metadata).await;
        }
        Ok(())
    }

    /// Whoever ran the call promised a shape. A result that breaks it leaves the reply parked.
    fn check_external_result(&self, result: &ToolResultBlock) -> Result<()> {
        let Some(tool) = self.definition.toolkit.tool(&result.name) else { return Ok(()) };
        let Some(schema) = tool.metadata_schema() else { return Ok(()) };
        if result.state != ToolResultState::Success && result.state != ToolResultState::Running {
            return Ok(());
        }
        let what = format!("the metadata of the result of `{}`", result.name);
        let metadata = serde_json::to_value(&result.metadata).unwrap_or_default();
        let violation = match Validator::new(schema) {
            Ok(validator) => {
                validator.violation(&metadata).map(|(reason, path)| format!("{reason} (at {path})"))
            }
            Err(reason) => Some(reason),
        };
        violation.map_or(Ok(()), |reason| Err(ErrorKind::SchemaViolation { what, reason }.into()))
    }

    fn awaiting(&self, state: &AgentState, wanted: ToolCallState) -> Vec<ToolCallBlock> {
        let calls = state.awaiting_tool_calls(&self.definition.name).into_iter();
        calls.filter(|call| call.state == wanted).cloned().collect()
    }
}

fn check_reply_id(state: &AgentState, got: &Id) -> Result<()> {
    if got == state.reply_id() {
        return Ok(());
    }
    Err(ErrorKind::StaleAnswer { got: got.clone(), parked: state.reply_id().clone() }.into())
}

fn ids_beside<'a>(ids: impl Iterator<Item = &'a Id>, known: &[ToolCallBlock]) -> Vec<Id> {
    ids.filter(|id| known.iter().all(|call| call.id != **id)).cloned().collect()
}

/// What an input may not hold.
fn check_message(message: &Msg) -> Result<()> {
    let reason = if message.role == Role::System {
        "it has the role `system`"
    } else if message.content.iter().any(|block| {
        matches!(block, ContentBlock::ToolCall(_) | ContentBlock::ToolResult(_) | ContentBlock::Thinking(_))
    }) {
        "it holds tool calls, tool results or thinking"
    } else if message.validate().is_err() {
        "it holds blocks that its role may not have"
    } else {
        return Ok(());
    };
    Err(ErrorKind::InvalidInputMessage { id: message.id.clone(), reason: reason.to_owned() }.into())
}

/// How a data block is named in a reminder.
pub(super) fn reminder_name(data: &DataBlock) -> String {
    data.name.as_ref().map(|name| fill(texts::REMINDER_NAMED, &[("name", name)])).unwrap_or_default()
}

/// Whether a media type is of a kind like `image/*`.
fn matches(pattern: &str, media_type: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern.eq_ignore_ascii_case(media_type),
        Some((before, after)) => {
            media_type.len() >= before.len() + after.len()
                && media_type.starts_with(before)
                && media_type.ends_with(after)
        }
    }
}
