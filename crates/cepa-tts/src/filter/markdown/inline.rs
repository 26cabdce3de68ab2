//! Marks within a line.

use super::{Decision, Markdown, Place, State, Token, run};
use crate::filter::TextFilter as _;

/// What begins a URL.
const URLS: [&str; 4] = ["https://", "http://", "ftp://", "www."];

impl State {
    pub(super) fn inline(&mut self, text: &str, complete: bool) -> Decision {
        let first = text.chars().next()?;
        if first == '\n' {
            return Token::keep(1, Place::LineStart);
        }
        if first == '`' {
            return self.backticks(text, complete);
        }
        if self.code.is_some() {
            return Token::keep(first.len_utf8(), Place::Inline);
        }
        match first {
            '\\' => match text[1..].chars().next() {
                None if !complete => None,
                Some(mark) if mark.is_ascii_punctuation() => Token::say(2, mark.to_string(), Place::Inline),
                _ => Token::keep(1, Place::Inline),
            },
            '*' | '_' | '~' => self.emphasis(text, first, complete),
            // Those that end a heading.
            '#' if self.before.is_some_and(char::is_whitespace) => {
                let length = run(text, '#');
                match text[length..].trim_start_matches([' ', '\t', '\r']).chars().next() {
                    None if !complete => None,
                    None | Some('\n') => Token::drop(length, Place::Inline),
                    Some(_) => Token::keep(length, Place::Inline),
                }
            }
            '!' => match text[1..].chars().next() {
                None if !complete => None,
                Some('[') => link(text, 1, complete),
                _ => Token::keep(1, Place::Inline),
            },
            '[' => link(text, 0, complete),
            '<' => match begins_url(&text[1..], complete)? {
                true => match text.find(['>', '\n']) {
                    Some(end) if text.as_bytes()[end] == b'>' => Token::drop(end + 1, Place::Inline),
                    None if !complete => None,
                    _ => Token::drop(1, Place::Inline),
                },
                false => Token::keep(1, Place::Inline),
            },
            _ if !self.before.is_some_and(in_a_word) && begins_url(text, complete)? => url(text, complete),
            first => Token::keep(first.len_utf8(), Place::Inline),
        }
    }

    /// Backticks begin or end inline code, whose text stays as it is.
    fn backticks(&mut self, text: &str, complete: bool) -> Decision {
        let length = run(text, '`');
        if length == text.len() && !complete {
            return None;
        }
        match self.code {
            Some(opened) if opened != length => return Token::keep(length, Place::Inline),
            Some(_) => self.code = None,
            None => self.code = Some(length),
        }
        Token::drop(length, Place::Inline)
    }

    /// Marks of emphasis are left out where they touch a word and are not within one.
    fn emphasis(&self, text: &str, mark: char, complete: bool) -> Decision {
        let length = run(text, mark);
        let after = text[length..].chars().next();
        if after.is_none() && !complete {
            return None;
        }
        let touches = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace());
        let is = |test: fn(char) -> bool| self.before.is_some_and(test) && after.is_some_and(test);
        let is_mark = match mark {
            '~' => length == 2,
            // `snake_case`, `2*3`
            '_' => !is(char::is_alphanumeric),
            _ => !is(|c| c.is_ascii_digit()),
        };
        match is_mark && (touches(self.before) || touches(after)) {
            true => Token::drop(length, Place::Inline),
            false => Token::keep(length, Place::Inline),
        }
    }
}

/// A link, or an image, whose bracket is at `start`: its text is spoken. Where there is none, its first mark is text.
fn link(text: &str, start: usize, complete: bool) -> Decision {
    let none = || Token::keep(1, Place::Inline);
    let undecided = |line_ends: bool| if complete || line_ends { none() } else { None };
    let label = match closing(&text[start..], '[', ']') {
        Ok(end) => start + end,
        Err(line_ends) => return undecided(line_ends),
    };
    let rest = &text[label + 1..];
    let target = match rest.chars().next() {
        Some('(') => closing(rest, '(', ')'),
        Some('[') => closing(rest, '[', ']'),
        None => return undecided(false),
        Some(_) => return none(),
    };
    match target {
        Ok(end) => {
            let mut inner = Markdown::default();
            inner.state.place = Place::Inline;
            let spoken = inner.push(&text[start + 1..label]) + &inner.finish();
            Token::say(label + 1 + end + 1, spoken, Place::Inline)
        }
        Err(line_ends) => undecided(line_ends),
    }
}

/// Where the bracket at the beginning of the text is closed, in its line. The error says whether the line ends before.
fn closing(text: &str, open: char, close: char) -> Result<usize, bool> {
    let (mut depth, mut escaped) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '\n' => return Err(true),
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == open => depth += 1,
            c if c == close => {
                depth -= 1;
                if depth == 0 {
                    return Ok(at);
                }
            }
            _ => {}
        }
    }
    Err(false)
}

/// Whether a URL begins here; `None` when it takes more text to know.
fn begins_url(text: &str, complete: bool) -> Option<bool> {
    let mut undecided = false;
    for url in URLS {
        let shared = text.bytes().zip(url.bytes()).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count();
        if shared == url.len() {
            return Some(true);
        }
        undecided |= shared == text.len();
    }
    if undecided && !complete { None } else { Some(false) }
}

/// Whether a URL cannot begin after this character. Chinese and Japanese have no spaces.
fn in_a_word(c: char) -> bool {
    c.is_alphanumeric() && c < EAST
}

/// Where the scripts of East Asia begin.
const EAST: char = '\u{2e80}';

/// A URL: left out, but for the marks of the sentence that it stands in.
fn url(text: &str, complete: bool) -> Decision {
    let is_over = |c: char| c.is_whitespace() || c >= EAST || "<>\"`{}|^“”‘’«»…".contains(c);
    let end = match text.find(is_over) {
        Some(end) => end,
        None if complete => text.len(),
        None => return None,
    };
    let mut url = &text[..end];
    loop {
        let shorter = url.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', '_', '~', ']']);
        let shorter = match shorter.strip_suffix(')') {
            Some(shorter) if !shorter.contains('(') => shorter,
            _ => shorter,
        };
        if shorter.len() == url.len() {
            return Token::drop(url.len(), Place::Inline);
        }
        url = shorter;
    }
}
