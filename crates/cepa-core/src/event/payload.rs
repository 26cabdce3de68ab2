//! What a caller sends to a reply that waits: also the content of three events.

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::EventKind;
use crate::{
    fields::Fields,
    id::Id,
    message::{ToolCallBlock, ToolResultBlock},
    permission::PermissionRule,
    wire::{put, wire},
};

/// A person's answers on the tool calls that a reply asked about.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UserConfirmResultEvent {
    /// The reply that waits.
    pub reply_id: Id,
    /// One answer per tool call.
    pub confirm_results: Vec<ConfirmResult>,
}

impl UserConfirmResultEvent {
    /// Answers for a reply.
    pub fn new(reply_id: impl Into<Id>, results: impl IntoIterator<Item = ConfirmResult>) -> Self {
        Self { reply_id: reply_id.into(), confirm_results: results.into_iter().collect() }
    }
}

impl From<UserConfirmResultEvent> for EventKind {
    fn from(event: UserConfirmResultEvent) -> Self {
        Self::UserConfirmResult(event)
    }
}

/// The results of tool calls that were run elsewhere.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExternalExecutionResultEvent {
    /// The reply that waits.
    pub reply_id: Id,
    /// One result per tool call.
    pub execution_results: Vec<ToolResultBlock>,
}

impl ExternalExecutionResultEvent {
    /// Results for a reply.
    pub fn new(reply_id: impl Into<Id>, results: impl IntoIterator<Item = ToolResultBlock>) -> Self {
        Self { reply_id: reply_id.into(), execution_results: results.into_iter().collect() }
    }
}

impl From<ExternalExecutionResultEvent> for EventKind {
    fn from(event: ExternalExecutionResultEvent) -> Self {
        Self::ExternalExecutionResult(event)
    }
}

/// The end of a reply that waits for a person or a result: it is given up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UserInterruptEvent {
    /// The reply that waits.
    pub reply_id: Id,
}

impl UserInterruptEvent {
    /// Gives a reply up.
    pub fn new(reply_id: impl Into<Id>) -> Self {
        Self { reply_id: reply_id.into() }
    }
}

impl From<UserInterruptEvent> for EventKind {
    fn from(event: UserInterruptEvent) -> Self {
        Self::UserInterrupt(event)
    }
}

/// A person's answer on one tool call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ConfirmResult {
    /// Whether the call may run.
    pub confirmed: bool,
    /// The call, perhaps with changed arguments.
    pub tool_call: ToolCallBlock,
    /// Rules to keep for calls to come; only with `confirmed`.
    pub rules: Option<Vec<PermissionRule>>,
    /// Why the call was rejected, for the model to read. Not in AgentScope 2.0.11; left out of the JSON when unset.
    pub reason: Option<String>,
    /// Fields that this version does not know.
    pub extra: Fields,
}

impl ConfirmResult {
    /// The call may run.
    #[must_use]
    pub const fn confirm(tool_call: ToolCallBlock) -> Self {
        Self { confirmed: true, tool_call, rules: None, reason: None, extra: Fields::new() }
    }

    /// The call may not run.
    #[must_use]
    pub const fn reject(tool_call: ToolCallBlock) -> Self {
        Self { confirmed: false, tool_call, rules: None, reason: None, extra: Fields::new() }
    }

    /// The answer with rules for calls to come.
    #[must_use]
    pub fn with_rules(mut self, rules: impl IntoIterator<Item = PermissionRule>) -> Self {
        self.rules = Some(rules.into_iter().collect());
        self
    }

    /// The answer with a reason for the model.
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}

// AgentScope does not know `reason`, so the writing half is not the macro's.
impl Serialize for ConfirmResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { confirmed, tool_call, rules, reason, extra } = self;
        let mut map = serializer.serialize_map(None)?;
        put!(map, confirmed, tool_call, rules);
        if reason.is_some() {
            put!(map, reason);
        }
        extra.write_into(&mut map)?;
        map.end()
    }
}

wire!(@read ConfirmResult, "a confirm result", { confirmed, tool_call, rules = None, reason = None });
