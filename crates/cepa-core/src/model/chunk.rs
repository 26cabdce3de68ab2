//! What a model streams.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::{
    fields::Fields,
    id::Id,
    message::{ContentBlock, DataBlock},
};

/// One piece of a streamed answer: the deltas that came together.
///
/// Deltas in one chunk belong side by side; a block that the next chunk does not go on with is ended (but for data,
/// which text flows around).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatChunk {
    content: SmallVec<[ContentDelta; 1]>,
}

/// A piece of one content block.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContentDelta {
    /// More text. Text without an id belongs to one block per call.
    Text {
        /// The piece.
        text: String,
        /// The block, where an answer has several.
        id: Option<Id>,
    },
    /// More thinking.
    Thinking {
        /// The piece.
        thinking: String,
        /// The block, where an answer has several.
        id: Option<Id>,
        /// Provider data of the block, such as a signature. Later values replace earlier ones.
        extra: Fields,
    },
    /// More of a tool call. The first piece carries the name.
    ToolCall {
        /// The call.
        id: Id,
        /// The tool's name; empty in the pieces after the first.
        name: Arc<str>,
        /// A piece of the arguments' JSON text.
        input: String,
    },
    /// A piece of a data block (audio comes in pieces; anything else whole), told apart by the block's id.
    Data(DataBlock),
}

impl ChatChunk {
    /// A chunk of one delta.
    pub fn new(delta: ContentDelta) -> Self {
        Self { content: smallvec![delta] }
    }

    /// A piece of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(ContentDelta::Text { text: text.into(), id: None })
    }

    /// A piece of thinking.
    pub fn thinking(thinking: impl Into<String>) -> Self {
        Self::new(ContentDelta::Thinking { thinking: thinking.into(), id: None, extra: Fields::default() })
    }

    /// A piece of a tool call, or a whole one.
    pub fn tool_call(id: impl Into<Id>, name: impl Into<Arc<str>>, input: impl Into<String>) -> Self {
        Self::new(ContentDelta::ToolCall { id: id.into(), name: name.into(), input: input.into() })
    }

    /// A piece of data, or a whole block of it.
    pub fn data(block: DataBlock) -> Self {
        Self::new(ContentDelta::Data(block))
    }

    /// A whole answer as one chunk. Blocks that no model sends (results, hints) are left out.
    pub(crate) fn from_blocks(blocks: Vec<ContentBlock>) -> Self {
        blocks.into_iter().filter_map(ContentDelta::from_block).collect()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.content.is_empty()
    }

    /// The deltas.
    pub fn deltas(&self) -> &[ContentDelta] {
        &self.content
    }

    /// The deltas, to be changed in place (a redaction, say).
    pub fn deltas_mut(&mut self) -> &mut [ContentDelta] {
        &mut self.content
    }

    /// Adds a delta that came at the same time.
    pub fn push(&mut self, delta: ContentDelta) {
        self.content.push(delta);
    }

    /// Keeps the deltas for which `keep` answers `true`.
    pub fn retain(&mut self, keep: impl FnMut(&mut ContentDelta) -> bool) {
        self.content.retain(keep);
    }

    /// The text of the chunk's text deltas.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.content.iter().filter_map(|delta| match delta {
            ContentDelta::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })
    }

    /// The text of the chunk's text deltas, to be changed in place.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.content.iter_mut().filter_map(|delta| match delta {
            ContentDelta::Text { text, .. } => Some(text),
            _ => None,
        })
    }
}

impl FromIterator<ContentDelta> for ChatChunk {
    fn from_iter<I: IntoIterator<Item = ContentDelta>>(deltas: I) -> Self {
        Self { content: deltas.into_iter().collect() }
    }
}

impl ContentDelta {
    /// A whole block as one delta; `None` for blocks that no model sends.
    pub(crate) fn from_block(block: ContentBlock) -> Option<Self> {
        match block {
            ContentBlock::Text(block) => Some(Self::Text { text: block.text, id: Some(block.id) }),
            ContentBlock::Thinking(block) => {
                Some(Self::Thinking { thinking: block.thinking, id: Some(block.id), extra: block.extra })
            }
            ContentBlock::ToolCall(block) => {
                Some(Self::ToolCall { id: block.id, name: block.name, input: block.input })
            }
            ContentBlock::Data(block) => Some(Self::Data(block)),
            ContentBlock::ToolResult(_) | ContentBlock::Hint(_) => None,
        }
    }
}
