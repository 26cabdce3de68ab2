//! [`MsgContent`]: what a message can be made from.

use super::block::{
    ContentBlock, DataBlock, HintBlock, OutputBlock, TextBlock, ThinkingBlock, ToolCallBlock, ToolResultBlock,
};

/// The content of a new message: text (which makes one text block), a block, or several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MsgContent(pub(super) Vec<ContentBlock>);

macro_rules! from_one {
    ($($one:ty),+ $(,)?) => {
        $(
            impl From<$one> for MsgContent {
                fn from(one: $one) -> Self {
                    Self(vec![one.into()])
                }
            }
        )+
    };
}

from_one!(
    ContentBlock,
    OutputBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    DataBlock,
    HintBlock
);

impl From<&str> for MsgContent {
    fn from(text: &str) -> Self {
        TextBlock::new(text).into()
    }
}

impl From<String> for MsgContent {
    fn from(text: String) -> Self {
        TextBlock::new(text).into()
    }
}

impl From<Vec<ContentBlock>> for MsgContent {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self(blocks)
    }
}

impl<const N: usize> From<[ContentBlock; N]> for MsgContent {
    fn from(blocks: [ContentBlock; N]) -> Self {
        Self(blocks.into())
    }
}
