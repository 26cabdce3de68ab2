//! Marks within a line.

use super::{Decision, Fence, Markdown, Place, State, Token, is_full, run};
use crate::filter::TextFilter as _;

/// How deep brackets may stand in each other. Where they are deeper, they are text.
const DEPTH: usize = 3;

/// What begins a URL.
const URLS: [&str; 5] = ["https://", "http://", "ftp://", "www.", "data:image/"];

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
                Some('[') => self.link(text, 1, complete),
                _ => Token::keep(1, Place::Inline),
            },
            '[' => self.link(text, 0, complete),
            '<' => match begins_url(&text[1..], complete)? {
                true => match text.find(|c: char| c == '>' || c.is_whitespace()) {
                    Some(end) if text.as_bytes()[end] == b'>' => Token::drop(end + 1, Place::Inline),
                    None if !complete => None,
                    _ => Token::drop(1, Place::Inline),
                },
                false => Token::keep(1, Place::Inline),
            },
            _ if !self.before.is_some_and(in_a_word) && begins_url(text, complete)? => {
                Self::url(text, complete)
            }
            first => Token::keep(first.len_utf8(), Place::Inline),
        }
    }

    /// Backticks begin or end inline code, whose text stays as it is. So many that they can be a fence are one where
    /// nothing in the line ends them.
    fn backticks(&mut self, text: &str, complete: bool) -> Decision {
        let length = run(text, '`');
        if length == text.len() && !complete {
            return None;
        }
        match self.code {
            Some(opened) if opened != length => return Token::keep(length, Place::Inline),
            Some(_) => self.code = None,
            None if length < 3 => self.code = Some(length),
            None => match text[length..].find(['`', '\n']).map(|at| text[length..].split_at(at)) {
                None if !complete => return None,
                // At the most with the name of a language behind them; else somebody talks of backticks.
                Some((info, end)) if end.starts_with('\n') && info.split_whitespace().count() < 2 => {
                    let fence = Fence { mark: '`', length, quotes: self.quotes, after_words: true };
                    return Token::drop(length, Place::Code(fence));
                }
                _ => self.code = Some(length),
            },
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
    /// A link, or an image, whose bracket is at `start`: its text is spoken. Where there is none, its first mark is text.
    fn link(&self, text: &str, start: usize, complete: bool) -> Decision {
        let none = || Token::keep(1, Place::Inline);
        let undecided = || if complete { none() } else { None };
        if self.links == DEPTH {
            return none();
        }
        let label = match closing(&text[start..], '[', ']') {
            Closing::At(end) => start + end,
            Closing::Never => return none(),
            Closing::Unknown => return undecided(),
        };
        let rest = &text[label + 1..];
        let target = match rest.chars().next() {
            Some('(') => closing(rest, '(', ')'),
            Some('[') => closing(rest, '[', ']'),
            None => return undecided(),
            Some(_) => return none(),
        };
        match target {
            Closing::At(end) => {
                let mut inner = Markdown::default();
                inner.state.place = Place::Inline;
                inner.state.links = self.links + 1;
                let spoken = inner.push(&text[start + 1..label]) + &inner.finish();
                Token::say(label + 1 + end + 1, spoken, Place::Inline)
            }
            Closing::Never => none(),
            Closing::Unknown => undecided(),
        }
    }

    /// A URL: left out, but for the marks of the sentence that it stands in.
    pub(super) fn url(text: &str, complete: bool) -> Decision {
        let is_over = |c: char| c.is_whitespace() || c >= EAST || "<>\"`{}|^“”‘’«»…".contains(c);
        let end = match text.find(is_over) {
            Some(end) => end,
            None if is_full(text) => return Token::drop(text.len(), Place::Url),
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
}

/// Where a bracket is closed.
enum Closing {
    At(usize),
    /// Not in its line, or others stand in it too deep.
    Never,
    /// Not in the text at hand.
    Unknown,
}

/// Where the bracket at the beginning of the text is closed, in its line.
fn closing(text: &str, open: char, close: char) -> Closing {
    let (mut depth, mut escaped) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '\n' => return Closing::Never,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == open && depth == DEPTH => return Closing::Never,
            c if c == open => depth += 1,
            c if c == close => {
                depth -= 1;
                if depth == 0 {
                    return Closing::At(at);
                }
            }
            _ => {}
        }
    }
    Closing::Unknown
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
