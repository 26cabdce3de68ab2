//! [`TextOrBlocks`]: content that is plain text as a rule.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, SeqAccess, Visitor, value::SeqAccessDeserializer},
};

use super::{DataBlock, OutputBlock, TextBlock};

/// Plain text, or text and data blocks: the output of a tool, the content of a hint, a summary.
#[derive(Clone, Debug, PartialEq)]
pub enum TextOrBlocks {
    /// Plain text; in JSON a string.
    Text(String),
    /// Blocks; in JSON an array.
    Blocks(Vec<OutputBlock>),
}

/// What a tool gave back.
pub type ToolOutput = TextOrBlocks;

/// What a hint says.
pub type HintContent = TextOrBlocks;

impl TextOrBlocks {
    /// Whether there is nothing in it: no text, no block.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Blocks(blocks) => blocks.is_empty(),
        }
    }

    /// All text, the blocks' texts joined by newlines.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Blocks(blocks) => join_lines(blocks.iter().filter_map(OutputBlock::as_text)),
        }
    }

    /// The data blocks.
    pub fn data(&self) -> impl Iterator<Item = &DataBlock> {
        let blocks = match self {
            Self::Text(_) => &[][..],
            Self::Blocks(blocks) => blocks,
        };
        blocks.iter().filter_map(|block| match block {
            OutputBlock::Data(data) => Some(data),
            OutputBlock::Text(_) => None,
        })
    }

    /// The blocks; plain text becomes one, no text none.
    #[must_use]
    pub fn into_blocks(self) -> Vec<OutputBlock> {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::Text(text) if text.is_empty() => Vec::new(),
            Self::Text(text) => vec![TextBlock::new(text).into()],
        }
    }

    /// Changes the blocks in place; what was plain text is blocks from then on.
    pub fn update_blocks<R>(&mut self, change: impl FnOnce(&mut Vec<OutputBlock>) -> R) -> R {
        let mut blocks = std::mem::take(self).into_blocks();
        let result = change(&mut blocks);
        *self = Self::Blocks(blocks);
        result
    }
}

impl OutputBlock {
    /// The text, if this is a text block.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            Self::Data(_) => None,
        }
    }
}

/// Joins lines; a single one is borrowed.
pub(in crate::message) fn join_lines<'a>(mut lines: impl Iterator<Item = &'a str>) -> Cow<'a, str> {
    let mut text = Cow::Borrowed(lines.next().unwrap_or_default());
    for line in lines {
        let text = text.to_mut();
        text.push('\n');
        text.push_str(line);
    }
    text
}

impl Default for TextOrBlocks {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl From<&str> for TextOrBlocks {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for TextOrBlocks {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<OutputBlock>> for TextOrBlocks {
    fn from(blocks: Vec<OutputBlock>) -> Self {
        Self::Blocks(blocks)
    }
}

impl Serialize for TextOrBlocks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Blocks(blocks) => blocks.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for TextOrBlocks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrBlocksVisitor;

        impl<'de> Visitor<'de> for TextOrBlocksVisitor {
            type Value = TextOrBlocks;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or an array of text and data blocks")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<TextOrBlocks, E> {
                Ok(text.into())
            }

            fn visit_string<E: Error>(self, text: String) -> Result<TextOrBlocks, E> {
                Ok(text.into())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, blocks: A) -> Result<TextOrBlocks, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(blocks)).map(TextOrBlocks::Blocks)
            }
        }

        deserializer.deserialize_any(TextOrBlocksVisitor)
    }
}
