//! Adding up chunks to the blocks of a message.

use super::{ChatChunk, ContentDelta};
use crate::{
    id::Id,
    message::{ContentBlock, DataBlock, Source, TextBlock, ThinkingBlock, ToolCallBlock, base64},
};

/// What the chunks of one answer add up to, in the order in which the blocks began.
#[derive(Debug, Default)]
pub struct ResponseFold {
    blocks: Vec<Open>,
}

struct Open {
    /// The id that the deltas carried; `None` for the one block of its kind without an id.
    id: Option<Id>,
    block: ContentBlock,
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.block.fmt(f)
    }
}

impl ResponseFold {
    pub(crate) fn add(&mut self, chunk: &ChatChunk) {
        for delta in chunk.deltas() {
            self.add_delta(delta);
        }
    }

    fn add_delta(&mut self, delta: &ContentDelta) {
        if !self.go_on(delta) {
            self.begin(delta.clone());
        }
    }

    /// Appends to the block the delta belongs to, if it is there. Searched from the end, where it mostly is.
    fn go_on(&mut self, delta: &ContentDelta) -> bool {
        for open in self.blocks.iter_mut().rev() {
            match (&mut open.block, delta) {
                (ContentBlock::Text(block), ContentDelta::Text { text, id }) if open.id == *id => {
                    block.text.push_str(text);
                }
                (ContentBlock::Thinking(block), ContentDelta::Thinking { thinking, id, extra })
                    if open.id == *id =>
                {
                    block.thinking.push_str(thinking);
                    for (key, value) in extra.iter().filter(|(_, value)| !value.is_null()) {
                        block.extra.insert(key, value.clone());
                    }
                }
                (ContentBlock::ToolCall(block), ContentDelta::ToolCall { id, name, input })
                    if block.id == *id =>
                {
                    block.input.push_str(input);
                    if block.name.is_empty() {
                        block.name = name.clone();
                    }
                }
                (ContentBlock::Data(block), ContentDelta::Data(piece)) if block.id == piece.id => {
                    append_data(block, piece);
                }
                _ => continue,
            }
            return true;
        }
        false
    }

    fn begin(&mut self, delta: ContentDelta) {
        let (id, block) = match delta {
            ContentDelta::Text { text, id } => (id, ContentBlock::Text(TextBlock::new(text))),
            ContentDelta::Thinking { thinking, id, extra } => {
                let mut block = ThinkingBlock::new(thinking);
                block.extra = extra;
                (id, ContentBlock::Thinking(block))
            }
            ContentDelta::ToolCall { id, name, input } => {
                (None, ContentBlock::ToolCall(ToolCallBlock::new(id, name, input)))
            }
            ContentDelta::Data(block) => (None, ContentBlock::Data(block)),
        };
        self.blocks.push(Open { id, block });
    }

    /// The call of this id, as far as it has come.
    pub(crate) fn call(&self, id: &Id) -> Option<&ToolCallBlock> {
        let mut calls = self.blocks.iter().rev().filter_map(|open| open.block.as_tool_call());
        calls.find(|call| call.id == *id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    pub(crate) fn into_blocks(self) -> Vec<ContentBlock> {
        self.blocks.into_iter().map(|open| open.block).collect()
    }
}

/// Audio of one type comes in pieces; anything else is a whole of its own, and the latest one counts.
fn append_data(block: &mut DataBlock, piece: &DataBlock) {
    if piece.name.is_some() {
        block.name.clone_from(&piece.name);
    }
    match (&mut block.source, &piece.source) {
        (Source::Base64 { data, media_type, .. }, Source::Base64 { data: more, media_type: of, .. })
            if media_type == of && of.starts_with("audio/") =>
        {
            base64::append_any(data, more);
        }
        (source, latest) => source.clone_from(latest),
    }
}
