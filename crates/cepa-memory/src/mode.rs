//! Who looks into memory, and who writes to it.

use serde::{Deserialize, Serialize};

/// Who looks into memory, and who writes to it (AgentScope 2.0.11's modes, by the same names in JSON).
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
    pub(crate) fn is_static(self) -> bool {
        self != Self::AgentControl
    }

    /// Whether the model has tools.
    pub(crate) fn has_tools(self) -> bool {
        self != Self::StaticControl
    }
}
