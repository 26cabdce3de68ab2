//! What a tool returns.

use crate::{
    body::Body,
    fields::Fields,
    message::{OutputBlock, TextBlock, ToolResultState},
};

/// A tool's result: the envelope of what it streamed, or the output itself.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolResponse {
    /// The output: streamed as chunks, or held here and still to be sent.
    pub content: Body<OutputBlock>,
    /// How it ended: success, error, denied or interrupted.
    pub state: ToolResultState,
    /// Data for the program, kept with the result and not shown to the model.
    pub metadata: Fields,
}

impl ToolResponse {
    /// The envelope of output that was streamed.
    pub fn streamed() -> Self {
        Self { content: Body::streamed(), state: ToolResultState::Success, metadata: Fields::default() }
    }

    /// A successful output that was not streamed.
    pub fn own(content: Vec<OutputBlock>) -> Self {
        Self { content: Body::own(content), ..Self::streamed() }
    }

    /// A successful text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::own(vec![OutputBlock::Text(TextBlock::new(text))])
    }

    /// A failure, told to the model.
    pub fn error(text: impl Into<String>) -> Self {
        Self::text(text).with_state(ToolResultState::Error)
    }

    /// Sets how it ended.
    pub fn with_state(mut self, state: ToolResultState) -> Self {
        self.state = state;
        self
    }

    /// Adds an entry of data for the program.
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// The text of the output that is held here (all of it after `collect` or `hold`).
    pub fn output_text(&self) -> String {
        let blocks = self.content.blocks().iter();
        blocks
            .filter_map(|block| match block {
                OutputBlock::Text(block) => Some(block.text.as_str()),
                OutputBlock::Data(_) => None,
            })
            .collect()
    }
}

impl From<String> for ToolResponse {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for ToolResponse {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<()> for ToolResponse {
    fn from((): ()) -> Self {
        Self::text("done")
    }
}

impl From<serde_json::Value> for ToolResponse {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::String(text) => Self::text(text),
            value => Self::text(value.to_string()),
        }
    }
}
