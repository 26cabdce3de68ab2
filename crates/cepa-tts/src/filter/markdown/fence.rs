//! Code fences.

use super::{Decision, Place, Token, run};

/// A code fence that is open.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Fence {
    /// It ends with a line of so many of this character.
    pub(super) mark: char,
    pub(super) length: usize,
    /// How many quotes it is in; it ends with them.
    pub(super) quotes: usize,
    /// It was opened after words. Then it may well be inline code over several lines, and its end stands anywhere.
    pub(super) after_words: bool,
}

impl Fence {
    /// At the beginning of a line of it.
    pub(super) fn line_start(self, text: &str, complete: bool) -> Decision {
        let mut line = text;
        for _ in 0..self.quotes {
            line = line.trim_start_matches([' ', '\t']);
            line = match line.strip_prefix('>') {
                Some(line) => line,
                None if line.is_empty() && !complete => return None,
                None => return Token::drop(0, Place::LineStart),
            };
        }
        let marks = line.trim_start_matches([' ', '\t']);
        if self.after_words || !(marks.is_empty() || marks.starts_with(self.mark)) {
            return Token::drop(text.len() - marks.len(), Place::Code(self));
        }
        // The line must have nothing else.
        let rest = marks[run(marks, self.mark)..].trim_start_matches([' ', '\t', '\r']);
        let read = text.len() - rest.len();
        let closes = run(marks, self.mark) >= self.length;
        match rest.chars().next() {
            None if !complete => None,
            None if closes => Token::drop(read, Place::LineStart),
            Some('\n') if closes => Token::drop(read + 1, Place::LineStart),
            _ => Token::drop(read, Place::Code(self)),
        }
    }

    /// Within a line of it that does not end it, as far as is known.
    pub(super) fn code(self, text: &str, complete: bool) -> Decision {
        let ends = |c: char| c == '\n' || (self.after_words && c == self.mark);
        match text.find(ends) {
            None => Token::drop(text.len(), Place::Code(self)),
            Some(at) if text.as_bytes()[at] == b'\n' => Token::drop(at + 1, Place::Fence(self)),
            Some(0) => match run(text, self.mark) {
                length if length == text.len() && !complete => None,
                length if length >= self.length => Token::drop(length, Place::Inline),
                length => Token::drop(length, Place::Code(self)),
            },
            Some(at) => Token::drop(at, Place::Code(self)),
        }
    }
}
