//! What a tool streams.

use crate::{
    fields::Fields,
    message::{DataBlock, OutputBlock, Source, TextBlock, base64},
};

/// One piece of a tool's output.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolChunk {
    /// The pieces. Text in a row adds up to one block; data is told apart by the block's id.
    pub content: Vec<OutputBlock>,
    /// Further data. An entry `mcp_progress` goes to the user as a `CUSTOM` event.
    pub metadata: Fields,
}

impl ToolChunk {
    /// A piece of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::from_blocks(vec![OutputBlock::Text(TextBlock::new(text))])
    }

    /// A block of data, or a piece of one.
    pub fn data(block: DataBlock) -> Self {
        Self::from_blocks(vec![OutputBlock::Data(block)])
    }

    /// Several pieces at once.
    pub fn from_blocks(content: Vec<OutputBlock>) -> Self {
        Self { content, metadata: Fields::default() }
    }

    /// Adds an entry of further data.
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }
}

/// What the chunks of one call add up to.
#[derive(Debug, Default)]
pub struct ToolFold {
    blocks: Vec<OutputBlock>,
}

impl ToolFold {
    pub(crate) fn add(&mut self, chunk: &ToolChunk) {
        for block in &chunk.content {
            self.add_block(block.clone());
        }
    }

    pub(crate) fn add_block(&mut self, block: OutputBlock) {
        match block {
            OutputBlock::Text(piece) => match self.blocks.last_mut() {
                Some(OutputBlock::Text(last)) => last.text.push_str(&piece.text),
                _ => self.blocks.push(OutputBlock::Text(piece)),
            },
            OutputBlock::Data(piece) => {
                let known = self.blocks.iter_mut().rev().find_map(|block| match block {
                    OutputBlock::Data(known) if known.id == piece.id => Some(known),
                    _ => None,
                });
                match known {
                    Some(known) => append(known, piece),
                    None => self.blocks.push(OutputBlock::Data(piece)),
                }
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    pub(crate) fn into_blocks(self) -> Vec<OutputBlock> {
        self.blocks
    }
}

/// Pieces of base64 add up; a URL replaces what was there.
fn append(known: &mut DataBlock, piece: DataBlock) {
    if piece.name.is_some() {
        known.name = piece.name;
    }
    match (&mut known.source, piece.source) {
        (Source::Base64 { data, media_type, .. }, Source::Base64 { data: more, media_type: latest, .. }) => {
            base64::append_any(data, &more);
            if !latest.is_empty() {
                *media_type = latest;
            }
        }
        (source, latest) => *source = latest,
    }
}
