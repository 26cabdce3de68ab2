//! Who asks the memory.

use serde::{Deserialize, Serialize};

/// How an agent comes to what is remembered (AgentScope 2.0.11's modes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mode {
    /// The layer searches by what the user says, and puts in what it finds. The model has no tool.
    StaticControl,
    /// The model searches with a tool, when it wants to.
    AgentControl,
    /// Both.
    #[default]
    Both,
}

impl Mode {
    /// Whether the layer searches by itself.
    pub(crate) const fn is_static(self) -> bool {
        matches!(self, Self::StaticControl | Self::Both)
    }

    /// Whether the model has tools.
    pub(crate) const fn has_tools(self) -> bool {
        matches!(self, Self::AgentControl | Self::Both)
    }
}
