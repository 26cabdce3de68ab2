//! [`EventKind`]: the kinds of events.

use std::sync::Arc;

use super::{
    DataDelta, Ticket,
    payload::{ExternalExecutionResultEvent, UserConfirmResultEvent, UserInterruptEvent},
};
use crate::{
    fields::Fields,
    id::Id,
    message::{ErrorInfo, HintContent, ReplyFinishedReason, Role, ToolCallBlock, ToolResultState},
    model::FinishedReason,
};

/// What happened (AgentScope 2.0.11). `reply_id` is always the id of the reply's message.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "fields that say what they are: `reply_id`, `block_id`, `tool_call_id`, `delta`"
)]
pub enum EventKind {
    /// A reply begins.
    ReplyStart {
        reply_id: Id,
        /// The session the agent's state belongs to.
        session_id: Id,
        /// The agent.
        name: Arc<str>,
        /// The role of the message to come.
        role: Role,
    },
    /// A reply ends. A layer that drops this event makes the agent go on.
    ReplyEnd {
        reply_id: Id,
        /// The session the agent's state belongs to.
        session_id: Id,
        finished_reason: ReplyFinishedReason,
        /// The failure that ended the reply.
        error: Option<ErrorInfo>,
        /// Tells the agent whether the event was let through; `Ticket::default()` for an event of one's own.
        ticket: Ticket,
    },
    /// A model is asked.
    ModelCallStart { reply_id: Id, model_name: Arc<str> },
    /// The model has answered.
    ModelCallEnd {
        reply_id: Id,
        /// Tokens sent to the model.
        input_tokens: u64,
        /// Tokens the model wrote.
        output_tokens: u64,
        /// Sent tokens that came from the provider's prompt cache.
        cache_input_tokens: u64,
        /// Sent tokens that were put into the provider's prompt cache.
        cache_creation_input_tokens: u64,
        finished_reason: FinishedReason,
    },
    /// A text block begins.
    TextBlockStart { reply_id: Id, block_id: Id },
    /// More text of a block.
    TextBlockDelta { reply_id: Id, block_id: Id, delta: String },
    /// A text block is complete.
    TextBlockEnd {
        reply_id: Id,
        block_id: Id,
        /// The final text, where it is not what the deltas add up to.
        text: Option<String>,
    },
    /// A thinking block begins.
    ThinkingBlockStart { reply_id: Id, block_id: Id },
    /// More thoughts of a block.
    ThinkingBlockDelta { reply_id: Id, block_id: Id, delta: String },
    /// A thinking block is complete.
    ThinkingBlockEnd { reply_id: Id, block_id: Id },
    /// A data block begins.
    DataBlockStart {
        reply_id: Id,
        block_id: Id,
        /// The MIME type.
        media_type: Arc<str>,
        /// A name to show.
        name: Option<String>,
    },
    /// More data of a block.
    DataBlockDelta {
        reply_id: Id,
        block_id: Id,
        /// The MIME type.
        media_type: Arc<str>,
        delta: DataDelta,
    },
    /// A data block is complete.
    DataBlockEnd { reply_id: Id, block_id: Id },
    /// A hint was put in, all at once.
    HintBlock {
        reply_id: Id,
        block_id: Id,
        /// Who or what gave the hint.
        source: Option<String>,
        /// What the hint says.
        hint: HintContent,
    },
    /// A tool call begins.
    ToolCallStart { reply_id: Id, tool_call_id: Id, tool_call_name: Arc<str> },
    /// More of the call's arguments, JSON text.
    ToolCallDelta { reply_id: Id, tool_call_id: Id, delta: String },
    /// A tool call is complete.
    ToolCallEnd { reply_id: Id, tool_call_id: Id },
    /// A tool runs.
    ToolResultStart { reply_id: Id, tool_call_id: Id, tool_call_name: Arc<str> },
    /// More text of the tool's output.
    ToolResultTextDelta { reply_id: Id, tool_call_id: Id, delta: String },
    /// More data of the tool's output.
    ToolResultDataDelta {
        reply_id: Id,
        tool_call_id: Id,
        /// The data block inside the output.
        block_id: Id,
        /// The MIME type.
        media_type: Arc<str>,
        delta: DataDelta,
    },
    /// A tool is done. The event's metadata is the result's.
    ToolResultEnd {
        reply_id: Id,
        tool_call_id: Id,
        /// What the call came to.
        state: ToolResultState,
    },
    /// The reply waits for a person's answer on these calls.
    RequireUserConfirm { reply_id: Id, tool_calls: Vec<ToolCallBlock> },
    /// The reply waits for the results of these calls, run elsewhere.
    RequireExternalExecution { reply_id: Id, tool_calls: Vec<ToolCallBlock> },
    /// A person has answered.
    UserConfirmResult(UserConfirmResultEvent),
    /// Results came from elsewhere.
    ExternalExecutionResult(ExternalExecutionResultEvent),
    /// A waiting reply is given up.
    UserInterrupt(UserInterruptEvent),
    /// The rounds are used up. Deprecated, but still sent right before the `ReplyEnd` that says the same.
    ExceedMaxIters {
        reply_id: Id,
        /// The agent.
        name: Arc<str>,
    },
    /// Something of an application's own.
    Custom {
        /// What kind of thing it is.
        name: Arc<str>,
        /// Its content.
        value: Fields,
    },
}
