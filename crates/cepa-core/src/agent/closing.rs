//! Giving open calls a result, as events and in the context.

use super::{context, emit::Events, scope::ReplyScope};
use crate::{
    error::Result,
    event::{AgentEvent, EventKind},
    fields::Fields,
    id::Id,
    message::{TextBlock, ToolCallBlock, ToolCallState, ToolOutput, ToolResultBlock, ToolResultState},
    texts,
    tool::ToolFold,
};

/// Why open calls are closed.
pub(super) enum Why {
    /// The reply was interrupted: calls that wait for somebody are closed too.
    Interrupted,
    /// The reply failed, with this text as the calls' result. Calls that wait for somebody stay open.
    Failed(String),
    /// The reply ends before the calls ran.
    NotRun,
}

impl ReplyScope {
    /// Closes every open call of the reply.
    pub(super) async fn close_open_calls(&self, events: &Events, why: Why) -> Result<()> {
        let open: Vec<ToolCallBlock> = {
            let state = self.state()?;
            let msg = context::reply_message(&state, &self.definition.name);
            msg.map(|msg| context::without_result(msg).into_iter().cloned().collect()).unwrap_or_default()
        };
        let (text, state) = match &why {
            Why::Interrupted => (texts::TOOL_INTERRUPTED, ToolResultState::Interrupted),
            Why::Failed(text) => (text.as_str(), ToolResultState::Error),
            Why::NotRun => (texts::TOOL_NOT_RUN, ToolResultState::Error),
        };
        let parked = matches!(why, Why::Failed(_)) && open.iter().any(context::is_awaiting);
        for call in open {
            if parked && (context::is_awaiting(&call) || call.state == ToolCallState::Pending) {
                continue;
            }
            self.close_call(events, &call, text, state).await?;
        }
        Ok(())
    }

    /// Gives one call a fixed result.
    pub(super) async fn close_call(
        &self,
        events: &Events,
        call: &ToolCallBlock,
        text: &str,
        state: ToolResultState,
    ) -> Result<()> {
        self.close_call_after(events, call, ToolFold::default(), text, state).await
    }

    /// Gives one call a fixed result, after what it has sent already.
    pub(super) async fn close_call_after(
        &self,
        events: &Events,
        call: &ToolCallBlock,
        mut sent: ToolFold,
        text: &str,
        state: ToolResultState,
    ) -> Result<()> {
        self.start_result(events, call).await;
        let output = if sent.is_empty() {
            ToolOutput::from(text)
        } else {
            sent.add_block(TextBlock::new(text).into());
            ToolOutput::Blocks(sent.into_blocks())
        };
        let result = ToolResultBlock::new(call.id.clone(), call.name.clone(), output, state);
        context::store_result(&mut *self.state()?, &self.definition.name, result);
        events.tool_text(&call.id, text).await;
        self.end_result(events, &call.id, state, Fields::new()).await;
        Ok(())
    }

    /// Sends the start of a result, unless it was sent before: also in an earlier run, for a call that ran elsewhere.
    pub(super) async fn start_result(&self, events: &Events, call: &ToolCallBlock) {
        let first = {
            let mut run = self.run_state();
            let first = call.state != ToolCallState::Submitted && !run.started.contains(&call.id);
            if first {
                run.started.push(call.id.clone());
            }
            first
        };
        if first {
            let (reply_id, tool_call_id, tool_call_name) = (events.id(), call.id.clone(), call.name.clone());
            events.emit(EventKind::ToolResultStart { reply_id, tool_call_id, tool_call_name }).await;
        }
    }

    /// Sends the end of a result, with the data that goes with it.
    pub(super) async fn end_result(
        &self,
        events: &Events,
        call: &Id,
        state: ToolResultState,
        metadata: Fields,
    ) {
        self.run_state().started.retain(|started| started != call);
        let (reply_id, tool_call_id) = (events.id(), call.clone());
        let end = AgentEvent::new(EventKind::ToolResultEnd { reply_id, tool_call_id, state });
        events.emit_event(end.with_metadata(metadata)).await;
    }
}
