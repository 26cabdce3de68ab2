//! The marks at the beginning of a line.

use super::{Decision, Fence, Place, State, Token, run};

impl State {
    /// At the beginning of a line, or after a mark there: after `- ` another one may follow.
    pub(super) fn line_start(&mut self, text: &str, complete: bool) -> Decision {
        self.code = None;
        let indent = text.len() - text.trim_start_matches([' ', '\t']).len();
        let marks = &text[indent..];
        let Some(first) = marks.chars().next() else {
            return if complete { Token::keep(text.len(), Place::Inline) } else { None };
        };
        // Whether a mark of so many bytes has a space after it, or the line ends there.
        let spaced = |length: usize| match marks[length..].chars().next() {
            None if complete => Some(true),
            None => None,
            Some(next) => Some(next.is_whitespace()),
        };
        let text_begins = || match indent {
            0 => self_inline(),
            indent => Token::drop(indent, Place::Inline),
        };
        match first {
            '\n' | '\r' => Token::keep(indent + 1, Place::LineStart),
            '|' => Token::drop(indent, Place::Skipped),
            '>' => {
                self.quotes += 1;
                Token::drop(indent + 1, Place::LineStart)
            }
            '#' => {
                let length = run(marks, '#');
                match spaced(length)? {
                    true if length <= 6 => Token::drop(indent + length, Place::LineStart),
                    _ => Token::keep(indent + length, Place::Inline),
                }
            }
            '`' | '~' => {
                let length = run(marks, first);
                if length == marks.len() && !complete {
                    return None;
                }
                if length < 3 {
                    return text_begins();
                }
                // With another backtick in the line, it is inline code.
                match marks[length..].find(['`', '\n']).map(|at| marks.as_bytes()[length + at]) {
                    Some(b'`') if first == '`' => text_begins(),
                    None if first == '`' && !complete => None,
                    _ => {
                        let fence = Fence { mark: first, length, quotes: self.quotes, after_words: false };
                        Token::drop(indent + length, Place::Code(fence))
                    }
                }
            }
            '0'..='9' => match number(marks, complete)? {
                0 => text_begins(),
                // What stands after it may be a fence.
                length => Token::say(indent + length, marks[..length].to_owned(), Place::LineStart),
            },
            '-' | '*' | '+' | '_' | '=' => {
                // A rule or an underline: a line of nothing else.
                let ruled = marks.len() - marks.trim_start_matches([first, ' ', '\t', '\r']).len();
                let count = marks[..ruled].matches(first).count();
                let is_rule = count >= 3 || first == '=' || (first == '-' && count == 2);
                match marks[ruled..].chars().next() {
                    None if !complete => return None,
                    None if is_rule => return Token::drop(text.len(), Place::Inline),
                    Some('\n') if is_rule => return Token::drop(indent + ruled, Place::Inline),
                    _ => {}
                }
                if matches!(first, '-' | '*' | '+') && spaced(1)? {
                    return match checkbox(&marks[1..], complete) {
                        Some(length) => Token::drop(indent + 1 + length, Place::LineStart),
                        None => None,
                    };
                }
                text_begins()
            }
            _ => text_begins(),
        }
    }
}

/// Inline text begins here; nothing was read.
fn self_inline() -> Decision {
    Token::drop(0, Place::Inline)
}

/// The length of the number of a list, as in `1. `; 0 for none, `None` when it takes more text to know.
fn number(text: &str, complete: bool) -> Option<usize> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let mut after = text[digits..].chars();
    match (after.next(), after.next()) {
        // So many are no number of a list.
        _ if digits > 9 => Some(0),
        (None, _) | (Some('.' | ')'), None) if !complete => None,
        (Some('.' | ')'), Some(' ' | '\t')) => Some(digits + 2),
        _ => Some(0),
    }
}

/// The length of the box of a task, as in `- [x] `; 0 for none, `None` when it takes more text to know.
fn checkbox(text: &str, complete: bool) -> Option<usize> {
    let mut length = 0;
    for allowed in [" ", "[", " xX", "]", " "] {
        match text[length..].chars().next() {
            None if complete => return Some(0),
            None => return None,
            Some(c) if allowed.contains(c) => length += 1,
            Some(_) => return Some(0),
        }
    }
    Some(length)
}
