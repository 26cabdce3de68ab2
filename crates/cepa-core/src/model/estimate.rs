//! An estimate of tokens: bytes / 4, as AgentScope 2.0.11 counts by default.

use std::sync::Arc;

use serde_json::Value;

use super::ToolSchema;
use crate::message::{ContentBlock, Msg, OutputBlock, TextOrBlocks};

/// What an image, a sound or a file counts, whatever its size.
const TOKENS_PER_DATA_BLOCK: u64 = 2_000;

/// Estimates the tokens of a request: a quarter of the bytes of its texts and of the tools' JSON, and 2 000 for
/// each data block.
///
/// ```
/// use std::sync::Arc;
/// use cepa_core::{Msg, estimate_tokens};
///
/// let messages = [Arc::new(Msg::user("user", "twelve bytes"))];
/// assert_eq!(estimate_tokens(&messages, &[]), 3);
/// ```
pub fn estimate_tokens(messages: &[Arc<Msg>], tools: &[ToolSchema]) -> u64 {
    let mut size = Size::default();
    for message in messages {
        size.add_blocks(&message.content);
    }
    size.bytes += tools_len(tools);
    size.tokens()
}

#[derive(Clone, Copy, Default)]
struct Size {
    bytes: usize,
    data_blocks: u64,
}

impl Size {
    fn tokens(self) -> u64 {
        // floor(bytes / 4 + 0.5)
        (self.bytes as u64 + 2) / 4 + self.data_blocks * TOKENS_PER_DATA_BLOCK
    }

    fn add_blocks(&mut self, blocks: &[ContentBlock]) {
        for block in blocks {
            self.add(block);
        }
    }

    fn add(&mut self, block: &ContentBlock) {
        match block {
            ContentBlock::Text(block) => self.bytes += block.text.len(),
            ContentBlock::Thinking(block) => self.bytes += block.thinking.len(),
            ContentBlock::ToolCall(block) => self.bytes += block.input.len(),
            ContentBlock::ToolResult(block) => self.add_text_or_blocks(&block.output),
            ContentBlock::Hint(block) => self.add_text_or_blocks(&block.hint),
            ContentBlock::Data(_) => self.data_blocks += 1,
        }
    }

    fn add_text_or_blocks(&mut self, content: &TextOrBlocks) {
        match content {
            TextOrBlocks::Text(text) => self.bytes += text.len(),
            TextOrBlocks::Blocks(blocks) => blocks.iter().for_each(|block| self.add_output(block)),
        }
    }

    fn add_output(&mut self, block: &OutputBlock) {
        match block {
            OutputBlock::Text(block) => self.bytes += block.text.len(),
            OutputBlock::Data(_) => self.data_blocks += 1,
        }
    }
}

/// Bytes of the JSON list of these tools, with `", "` between them.
fn tools_len(tools: &[ToolSchema]) -> usize {
    if tools.is_empty() {
        return 0;
    }
    2 + tools.iter().map(ToolSchema::json_len).sum::<usize>() + 2 * (tools.len() - 1)
}

/// Bytes of a value's JSON text with `", "` and `": "` as separators.
pub(super) fn json_len(value: &Value) -> usize {
    match value {
        Value::Array(items) => {
            2 + items.iter().map(json_len).sum::<usize>() + 2 * items.len().saturating_sub(1)
        }
        Value::Object(fields) => {
            let entries: usize = fields.iter().map(|(key, value)| text_len(key) + 2 + json_len(value)).sum();
            2 + entries + 2 * fields.len().saturating_sub(1)
        }
        Value::String(text) => text_len(text),
        other => other.to_string().len(),
    }
}

/// Bytes of a JSON string with its quotes and escapes.
fn text_len(text: &str) -> usize {
    let escapes = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 1,
        0x00..=0x1f => 5,
        _ => 0,
    });
    2 + text.len() + escapes.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_of_json_is_that_of_its_text_with_spaces() {
        let value = serde_json::json!({"a": [1, 2.5, null], "b\n": {"c": "ü\"\u{1}"}, "d": {}, "e": []});
        let spaced = r#"{"a": [1, 2.5, null], "b\n": {"c": "ü\"\u0001"}, "d": {}, "e": []}"#;
        assert_eq!(json_len(&value), spaced.len());
    }
}
