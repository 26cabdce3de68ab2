//! [`ToolResultBlock`] and its states.

use std::sync::Arc;

use super::ToolOutput;
use crate::{
    fields::Fields,
    id::Id,
    time::Timestamp,
    wire::{names, wire},
};

/// What a tool call came to (AgentScope 2.0.11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolResultState {
    /// The tool did its work.
    Success,
    /// The tool failed.
    Error,
    /// The tool was stopped before its end.
    Interrupted,
    /// The tool was not allowed to run.
    Denied,
    /// The tool is still running.
    #[default]
    Running,
}

names!(ToolResultState, "a tool result state", {
    Success = "success",
    Error = "error",
    Interrupted = "interrupted",
    Denied = "denied",
    Running = "running",
});

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolResultBlock {
    /// The id of the call.
    pub id: Id,
    /// The tool.
    pub name: Arc<str>,
    /// What the tool gave back.
    pub output: ToolOutput,
    /// What the call came to.
    pub state: ToolResultState,
    /// What the tool says about its result; models do not see it.
    pub metadata: Fields,
    /// When the block was begun.
    pub created_at: Timestamp,
    /// When the block was complete; streaming sets it.
    pub finished_at: Option<Timestamp>,
    /// Fields that this version does not know.
    pub extra: Fields,
}

impl ToolResultBlock {
    /// The result of the call `id` of the tool `name`, made now.
    pub fn new(
        id: impl Into<Id>,
        name: impl Into<Arc<str>>,
        output: impl Into<ToolOutput>,
        state: ToolResultState,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            output: output.into(),
            state,
            metadata: Fields::new(),
            created_at: Timestamp::now(),
            finished_at: None,
            extra: Fields::new(),
        }
    }

    /// The result with metadata.
    #[must_use]
    pub fn with_metadata(mut self, metadata: impl Into<Fields>) -> Self {
        self.metadata = metadata.into();
        self
    }
}

wire!(ToolResultBlock, "a tool result", tag "tool_result", {
    id,
    name,
    output,
    state = ToolResultState::Running,
    metadata = Fields::new(),
    created_at = Timestamp::now(),
    finished_at = None,
});
