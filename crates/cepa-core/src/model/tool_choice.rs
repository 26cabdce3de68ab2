//! [`ToolChoice`]: which tools the model may or must call.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{fields::Fields, wire::wire};

/// Which tools the model may or must call (AgentScope 2.0.11).
///
/// ```
/// use cepa_core::ToolChoice;
///
/// let json = serde_json::to_string(&ToolChoice::tool("search"))?;
/// assert_eq!(json, r#"{"mode":"search","tools":["search"]}"#);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolChoice {
    /// Whether a tool is called, or which.
    pub mode: ToolChoiceMode,
    /// The tools that are offered; `None` offers all.
    pub tools: Option<Vec<String>>,
    /// Fields that this version does not know.
    pub extra: Fields,
}

impl ToolChoice {
    /// The model decides.
    #[must_use]
    pub const fn auto() -> Self {
        Self::new(ToolChoiceMode::Auto)
    }

    /// No tool is called.
    #[must_use]
    pub const fn none() -> Self {
        Self::new(ToolChoiceMode::None)
    }

    /// Some tool is called.
    #[must_use]
    pub const fn required() -> Self {
        Self::new(ToolChoiceMode::Required)
    }

    /// This tool is called, and no other is offered.
    pub fn tool(name: impl Into<String>) -> Self {
        let name = name.into();
        Self::new(ToolChoiceMode::Tool(name.clone())).with_tools([name])
    }

    const fn new(mode: ToolChoiceMode) -> Self {
        Self { mode, tools: None, extra: Fields::new() }
    }

    /// The choice among these tools only.
    #[must_use]
    pub fn with_tools<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.tools = Some(tools.into_iter().map(Into::into).collect());
        self
    }
}

impl Default for ToolChoice {
    fn default() -> Self {
        Self::auto()
    }
}

wire!(ToolChoice, "a tool choice", { mode, tools = None });

/// Whether a tool is called, or which. In JSON a text: one of three words, else a tool's name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolChoiceMode {
    /// The model decides.
    #[default]
    Auto,
    /// No tool is called.
    None,
    /// Some tool is called.
    Required,
    /// The tool of this name is called.
    Tool(String),
}

impl ToolChoiceMode {
    /// The text that stands for the mode in JSON.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Auto => "auto",
            Self::None => "none",
            Self::Required => "required",
            Self::Tool(name) => name,
        }
    }
}

impl From<String> for ToolChoiceMode {
    fn from(text: String) -> Self {
        match text.as_str() {
            "auto" => Self::Auto,
            "none" => Self::None,
            "required" => Self::Required,
            _ => Self::Tool(text),
        }
    }
}

impl fmt::Display for ToolChoiceMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for ToolChoiceMode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ToolChoiceMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Into::into)
    }
}
