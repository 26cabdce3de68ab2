//! [`Meter`]: how much of an output there is still room for.

use std::fmt;

use cepa_core::{OutputBlock, Source, TextBlock};
use unicode_segmentation::UnicodeSegmentation;

use super::Limits;

/// Counts what goes through. Near the limit the last character is held back until it is known to be whole.
pub(super) struct Meter {
    bytes: usize,
    lines: Option<usize>,
    limit: Taken,
    line_limit: usize,
    /// A character that the next piece may go on with.
    held: String,
}

/// The limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Bytes(usize),
    Lines(usize),
    Tokens(usize),
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, one, many) = match self {
            Self::Bytes(number) => (number, "byte", "bytes"),
            Self::Lines(number) => (number, "line", "lines"),
            Self::Tokens(number) => (number, "token", "tokens"),
        };
        write!(f, "{number} {}", if *number == 1 { one } else { many })
    }
}

/// So near to the limit it matters whether the last character is whole. A longer one is cut.
const NEAR: usize = 128;

impl Meter {
    pub(super) fn new(limits: Limits) -> Self {
        let tokens = limits.tokens.map(|tokens| (tokens.saturating_mul(4), Taken::Tokens(tokens)));
        let bytes = limits.bytes.map(|bytes| (bytes, Taken::Bytes(bytes)));
        let (bytes, limit) = [bytes, tokens]
            .into_iter()
            .flatten()
            .min_by_key(|(bytes, _)| *bytes)
            .unwrap_or((usize::MAX, Taken::Bytes(usize::MAX)));
        Self {
            bytes,
            lines: limits.lines,
            limit,
            line_limit: limits.lines.unwrap_or_default(),
            held: String::new(),
        }
    }

    /// Puts what there is room for into `content`. Gives the limit if it was not all.
    pub(super) fn take(&mut self, block: OutputBlock, content: &mut Vec<OutputBlock>) -> Option<Taken> {
        match block {
            OutputBlock::Text(block) => self.take_text(block, content),
            other => {
                if let Some(rest) = self.rest() {
                    content.push(TextBlock::new(rest).into());
                }
                let len = match &other {
                    OutputBlock::Data(data) => match &data.source {
                        Source::Base64 { data, .. } => data.len(),
                        Source::Url { url, .. } => url.len(),
                        _ => 0,
                    },
                    _ => 0,
                };
                if len > self.bytes {
                    return Some(self.limit);
                }
                self.bytes -= len;
                content.push(other);
                None
            }
        }
    }

    fn take_text(&mut self, mut block: TextBlock, content: &mut Vec<OutputBlock>) -> Option<Taken> {
        if !self.held.is_empty() {
            block.text.insert_str(0, &std::mem::take(&mut self.held));
        }
        let (mut end, mut cut) = (block.text.len(), None);
        if let Some(lines) = self.lines {
            end = end_of_lines(&block.text, lines);
            cut = (end < block.text.len()).then_some(Taken::Lines(self.line_limit));
        }
        if end > self.bytes {
            end = whole_characters(&block.text, self.bytes);
            cut = Some(self.limit);
        }
        block.text.truncate(end);
        self.bytes -= end;
        self.lines = self.lines.map(|lines| lines - newlines(&block.text));
        if cut.is_none() && self.bytes < NEAR {
            let last = block.text.grapheme_indices(true).next_back().map_or(0, |(at, _)| at);
            if block.text.len() - last < NEAR {
                self.held = block.text.split_off(last);
                self.bytes += self.held.len();
                self.lines = self.lines.map(|lines| lines + newlines(&self.held));
            }
        }
        if !block.text.is_empty() {
            content.push(block.into());
        }
        cut
    }

    /// The character that was held back.
    pub(super) fn rest(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.held);
        self.bytes -= rest.len();
        self.lines = self.lines.map(|lines| lines.saturating_sub(newlines(&rest)));
        Some(rest).filter(|rest| !rest.is_empty())
    }
}

/// The end of the last character (a grapheme cluster) that ends at or before `most`.
fn whole_characters(text: &str, most: usize) -> usize {
    let ends = text.grapheme_indices(true).map(|(at, character)| at + character.len());
    ends.take_while(|&end| end <= most).last().unwrap_or_default()
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// The end of so many lines.
fn end_of_lines(text: &str, lines: usize) -> usize {
    match lines.checked_sub(1) {
        None => 0,
        Some(before) => text.match_indices('\n').nth(before).map_or(text.len(), |(at, _)| at + 1),
    }
}
