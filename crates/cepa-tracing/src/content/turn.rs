//! Who said what: messages as the conventions have them, before they are written.

use cepa_core::{
    ContentBlock, DataBlock, HintBlock, Msg, OutputBlock, ReplyFinishedReason, Role, TextOrBlocks,
    ToolCallBlock, ToolResultBlock,
};

/// What becomes a message.
pub(super) struct Turn<'m> {
    pub(super) role: Role,
    pub(super) name: Option<&'m str>,
    pub(super) finish_reason: &'m str,
    pub(super) bits: Vec<Bit<'m>>,
}

/// What becomes a part of a message.
#[derive(Clone, Copy)]
pub(super) enum Bit<'m> {
    Text(&'m str),
    Thinking(&'m str),
    Call(&'m ToolCallBlock),
    Result(&'m ToolResultBlock),
    Data(&'m DataBlock),
}

impl<'m> Turn<'m> {
    /// What a message is told as. Hints are said to the model by the user, so they are messages of their own.
    pub(super) fn of(msg: &'m Msg) -> impl Iterator<Item = Self> {
        let is_hint = |block: &ContentBlock| matches!(block, ContentBlock::Hint(_));
        let runs = msg.content.chunk_by(move |a, b| !is_hint(a) && !is_hint(b));
        let turns = runs.map(|run| match run {
            [ContentBlock::Hint(hint)] => Self {
                role: Role::User,
                name: Some(hint.source.as_deref().unwrap_or(&msg.name)),
                finish_reason: "stop",
                bits: bits_of_hint(hint),
            },
            blocks => Self {
                role: msg.role,
                name: Some(&msg.name),
                finish_reason: finish_reason(msg),
                bits: bits(blocks),
            },
        });
        turns.filter(|turn| !turn.bits.is_empty())
    }

    /// What a model answered.
    pub(super) fn answer(blocks: &'m [ContentBlock], finish_reason: &'m str) -> Self {
        Self { role: Role::Assistant, name: None, finish_reason, bits: bits(blocks) }
    }
}

fn bits(blocks: &[ContentBlock]) -> Vec<Bit<'_>> {
    let bits = blocks.iter().filter_map(|block| match block {
        ContentBlock::Text(block) => Some(Bit::Text(&block.text)),
        ContentBlock::Thinking(block) => Some(Bit::Thinking(&block.thinking)),
        ContentBlock::ToolCall(call) => Some(Bit::Call(call)),
        ContentBlock::ToolResult(result) => Some(Bit::Result(result)),
        ContentBlock::Data(block) => Some(Bit::Data(block)),
        _ => None,
    });
    bits.collect()
}

fn bits_of_hint(hint: &HintBlock) -> Vec<Bit<'_>> {
    match &hint.hint {
        TextOrBlocks::Text(text) => vec![Bit::Text(text)],
        TextOrBlocks::Blocks(blocks) => {
            let bits = blocks.iter().filter_map(|block| match block {
                OutputBlock::Text(block) => Some(Bit::Text(&block.text)),
                OutputBlock::Data(block) => Some(Bit::Data(block)),
                _ => None,
            });
            bits.collect()
        }
    }
}

/// Why a message ended, in the words of the conventions. The last answer of a reply that had no more rounds is whole: it
/// ended as others do.
fn finish_reason(msg: &Msg) -> &'static str {
    match msg.finished_reason {
        Some(ReplyFinishedReason::Interrupted) => "interrupted",
        Some(ReplyFinishedReason::Error) => "error",
        _ => "stop",
    }
}
