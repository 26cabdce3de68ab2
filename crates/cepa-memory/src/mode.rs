//! Who looks into memory, and who writes to it.

/// Who looks into memory, and who writes to it (AgentScope 2.0.11's modes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// The layer: it searches before each reply and writes after it. The model sees no tool.
    StaticControl,
    /// The model, by tools. The layer does nothing by itself.
    AgentControl,
    /// Both.
    #[default]
    Both,
}

impl Mode {
    /// Whether the layer itself searches and writes.
    pub(crate) fn is_static(self) -> bool {
        self != Self::AgentControl
    }

    /// Whether the model has tools.
    pub(crate) fn has_tools(self) -> bool {
        self != Self::StaticControl
    }
}
