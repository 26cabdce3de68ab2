//! Groups of tools that are switched on and off together.

use std::sync::Arc;

use super::{Tool, ToolMiddleware};
use crate::shared::IntoShared;

/// A group of tools that the agent switches on and off during a session, with the tool `reset_tools`. Groups are
/// off at first.
#[derive(Clone)]
pub struct ToolGroup {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) instructions: Option<String>,
    pub(super) tools: Vec<Arc<dyn Tool>>,
    pub(super) layers: Vec<Arc<dyn ToolMiddleware>>,
}

impl ToolGroup {
    /// An empty group. The description tells the model what the group is for.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        let (name, description) = (name.into(), description.into());
        Self { name, description, instructions: None, tools: Vec::new(), layers: Vec::new() }
    }

    /// What the model is told when it switches the group on.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: impl IntoShared<dyn Tool>) -> Self {
        self.tools.push(tool.into_shared());
        self
    }

    /// Adds a layer around each tool of the group; the first is the outermost.
    #[must_use]
    pub fn middleware(mut self, layer: impl IntoShared<dyn ToolMiddleware>) -> Self {
        self.layers.push(layer.into_shared());
        self
    }
}

impl std::fmt::Debug for ToolGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tools: Vec<_> = self.tools.iter().map(|tool| tool.name()).collect();
        f.debug_struct("ToolGroup").field("name", &self.name).field("tools", &tools).finish_non_exhaustive()
    }
}
