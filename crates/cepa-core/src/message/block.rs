//! The content blocks that messages are made of.

mod data;
mod hint;
mod text;
mod text_or_blocks;
mod thinking;
mod tool_call;
mod tool_result;

pub use data::{DataBlock, Source};
pub use hint::HintBlock;
pub use text::TextBlock;
pub(super) use text_or_blocks::join_lines;
pub use text_or_blocks::{HintContent, TextOrBlocks, ToolOutput};
pub use thinking::ThinkingBlock;
pub use tool_call::{ToolCallBlock, ToolCallState};
pub use tool_result::{ToolResultBlock, ToolResultState};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess},
};

use crate::{
    id::Id,
    wire::{FromMap, object, open},
};

/// An enum over blocks whose JSON says which one it is in `type`.
macro_rules! blocks {
    ($ty:ident, $what:literal, { $($tag:literal => $variant:ident($block:ident)),+ $(,)? }) => {
        impl $ty {
            /// The `type` of the block in JSON.
            #[must_use]
            pub const fn block_type(&self) -> &'static str {
                match self {
                    $( Self::$variant(_) => $tag, )+
                }
            }

            /// The id of the block.
            #[must_use]
            pub const fn id(&self) -> &Id {
                match self {
                    $( Self::$variant(block) => &block.id, )+
                }
            }
        }

        $(
            impl From<$block> for $ty {
                fn from(block: $block) -> Self {
                    Self::$variant(block)
                }
            }
        )+

        impl Serialize for $ty {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $( Self::$variant(block) => block.serialize(serializer), )+
                }
            }
        }

        impl FromMap for $ty {
            const WHAT: &'static str = $what;

            fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
                let (tag, rest) = open(map, &mut ())?;
                match tag.as_str() {
                    $( $tag => $block::from_map(rest).map(Self::$variant), )+
                    other => Err(A::Error::unknown_variant(other, &[$($tag),+])),
                }
            }
        }

        impl<'de> Deserialize<'de> for $ty {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                object(deserializer)
            }
        }
    };
}

/// One piece of a message (AgentScope 2.0.11).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    Text(TextBlock),
    /// What a model thought before it answered.
    Thinking(ThinkingBlock),
    /// A tool the model wants to call.
    ToolCall(ToolCallBlock),
    /// What a tool call came to.
    ToolResult(ToolResultBlock),
    /// An image, sound or file.
    Data(DataBlock),
    /// Instructions put in while the agent works; models see them as a user's message.
    Hint(HintBlock),
}

blocks!(ContentBlock, "a content block", {
    "text" => Text(TextBlock),
    "thinking" => Thinking(ThinkingBlock),
    "tool_call" => ToolCall(ToolCallBlock),
    "tool_result" => ToolResult(ToolResultBlock),
    "data" => Data(DataBlock),
    "hint" => Hint(HintBlock),
});

/// One piece of a tool's output, a hint or a summary.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum OutputBlock {
    /// Text.
    Text(TextBlock),
    /// An image, sound or file.
    Data(DataBlock),
}

blocks!(OutputBlock, "a text or data block", {
    "text" => Text(TextBlock),
    "data" => Data(DataBlock),
});

impl From<OutputBlock> for ContentBlock {
    fn from(block: OutputBlock) -> Self {
        match block {
            OutputBlock::Text(block) => Self::Text(block),
            OutputBlock::Data(block) => Self::Data(block),
        }
    }
}

impl ContentBlock {
    /// The text, if this is a text block.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }

    /// The tool call, if this is one.
    #[must_use]
    pub const fn as_tool_call(&self) -> Option<&ToolCallBlock> {
        match self {
            Self::ToolCall(block) => Some(block),
            _ => None,
        }
    }

    /// The tool result, if this is one.
    #[must_use]
    pub const fn as_tool_result(&self) -> Option<&ToolResultBlock> {
        match self {
            Self::ToolResult(block) => Some(block),
            _ => None,
        }
    }
}
