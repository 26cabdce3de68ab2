//! [`ToolCallBlock`] and its states.

use std::sync::Arc;

use crate::{
    fields::Fields,
    id::Id,
    permission::PermissionRule,
    time::Timestamp,
    wire::{names, wire},
};

/// How far a tool call has come (AgentScope 2.0.11).
///
/// `Pending` → `Asking`, `Allowed` or `Finished`; `Asking` → `Allowed` or `Finished`; `Allowed` → `Submitted` (a tool
/// that runs elsewhere) or `Finished`; `Submitted` → `Finished`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolCallState {
    /// Not looked at yet.
    #[default]
    Pending,
    /// Waiting for a person's answer.
    Asking,
    /// May run.
    Allowed,
    /// Handed to somebody outside; waiting for the result.
    Submitted,
    /// Its result is there.
    Finished,
}

names!(ToolCallState, "a tool call state", {
    Pending = "pending",
    Asking = "asking",
    Allowed = "allowed",
    Submitted = "submitted",
    Finished = "finished",
});

/// A tool the model wants to call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolCallBlock {
    /// The call's id; its result carries the same.
    pub id: Id,
    /// The tool.
    pub name: Arc<str>,
    /// The arguments: JSON text as the model sent it, which may be cut or malformed.
    pub input: String,
    /// How far the call has come.
    pub state: ToolCallState,
    /// Rules offered to the person who is asked.
    pub suggested_rules: Vec<PermissionRule>,
    /// When the block was begun.
    pub created_at: Timestamp,
    /// When the block was complete; streaming sets it.
    pub finished_at: Option<Timestamp>,
    /// Fields that this version does not know.
    pub extra: Fields,
}

impl ToolCallBlock {
    /// A pending call, made now.
    pub fn new(id: impl Into<Id>, name: impl Into<Arc<str>>, input: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            input: input.into(),
            state: ToolCallState::Pending,
            suggested_rules: Vec::new(),
            created_at: Timestamp::now(),
            finished_at: None,
            extra: Fields::new(),
        }
    }

    /// The call in another state.
    #[must_use]
    pub const fn with_state(mut self, state: ToolCallState) -> Self {
        self.state = state;
        self
    }
}

wire!(ToolCallBlock, "a tool call", tag "tool_call", {
    id,
    name,
    input,
    state = ToolCallState::Pending,
    suggested_rules = Vec::new(),
    created_at = Timestamp::now(),
    finished_at = None,
});
