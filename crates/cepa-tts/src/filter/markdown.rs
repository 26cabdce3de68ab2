//! Markdown as it is spoken.
//!
//! A parser of Markdown needs whole paragraphs, and speech begins with the first sentence. So this reads mark by mark and
//! holds back only what is undecided: a link until its end, a run of `*` until the character after it. What is undecided
//! for too long is decided as if the text ended there: so the work grows with the text, whatever is in it.

mod fence;
mod inline;
mod line;

use self::fence::Fence;
use super::TextFilter;

/// How many bytes are held back at most, before it is decided what they are.
const HELD: usize = 1024;

/// Leaves out what is not spoken of Markdown.
pub(super) struct Markdown {
    /// What was not decided yet.
    held: String,
    state: State,
}

/// Where in the text the held part begins.
struct State {
    place: Place,
    /// The character before, in the text as it was written.
    before: Option<char>,
    /// How many backticks end the inline code that is open.
    code: Option<usize>,
    /// How many quotes the line is in.
    quotes: usize,
    /// How many links the text is in.
    links: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    LineStart,
    Inline,
    /// At the beginning of a line in a code fence.
    Fence(Fence),
    /// Within a line of a code fence.
    Code(Fence),
    /// In a URL that is longer than what is held back.
    Url,
    /// In a line that is left out.
    Skipped,
}

/// What becomes of the beginning of the text at hand.
struct Token {
    /// How many bytes of it were read.
    read: usize,
    spoken: Spoken,
    then: Place,
}

enum Spoken {
    Nothing,
    /// What was read.
    AsItIs,
    /// Something else.
    As(String),
}

/// What is known of the beginning of the text at hand; `None` when it takes more text to know.
type Decision = Option<Token>;

impl Token {
    fn drop(read: usize, then: Place) -> Decision {
        Some(Self { read, spoken: Spoken::Nothing, then })
    }

    fn keep(read: usize, then: Place) -> Decision {
        Some(Self { read, spoken: Spoken::AsItIs, then })
    }

    fn say(read: usize, text: String, then: Place) -> Decision {
        Some(Self { read, spoken: Spoken::As(text), then })
    }
}

impl Default for Markdown {
    fn default() -> Self {
        let state = State { place: Place::LineStart, before: None, code: None, quotes: 0, links: 0 };
        Self { held: String::new(), state }
    }
}

impl TextFilter for Markdown {
    fn push(&mut self, text: &str) -> String {
        self.held.push_str(text);
        self.read(false)
    }

    fn finish(&mut self) -> String {
        self.read(true)
    }
}

impl Markdown {
    /// Reads what can be decided; all of it when the text is `complete`.
    fn read(&mut self, complete: bool) -> String {
        let (mut spoken, mut at) = (String::new(), 0);
        while at < self.held.len() {
            let text = window(&self.held[at..]);
            let Some(token) = self.state.next(text, complete || is_full(text)) else { break };
            let read = &text[..token.read];
            match token.spoken {
                Spoken::Nothing => {}
                Spoken::AsItIs => spoken.push_str(read),
                Spoken::As(text) => spoken.push_str(&text),
            }
            self.state.before = read.chars().next_back().or(self.state.before);
            if read.ends_with('\n') {
                self.state.quotes = 0;
            }
            self.state.place = token.then;
            at += token.read;
        }
        self.held.drain(..at);
        spoken
    }
}

impl State {
    fn next(&mut self, text: &str, complete: bool) -> Decision {
        match self.place {
            Place::LineStart => self.line_start(text, complete),
            Place::Inline => self.inline(text, complete),
            Place::Fence(fence) => fence.line_start(text, complete),
            Place::Code(fence) => fence.code(text, complete),
            Place::Url => Self::url(text, complete),
            Place::Skipped => match text.find('\n') {
                Some(end) => Token::drop(end + 1, Place::LineStart),
                None => Token::drop(text.len(), Place::Skipped),
            },
        }
    }
}

/// The beginning of the text, as far as it is looked at for one decision.
fn window(text: &str) -> &str {
    let mut end = text.len().min(HELD);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Whether the text at hand is all that is looked at: nothing more is waited for. (The next character may not fit.)
fn is_full(text: &str) -> bool {
    text.len() + char::MAX.len_utf8() > HELD
}

/// How often the character is at the beginning of the text.
fn run(text: &str, mark: char) -> usize {
    text.chars().take_while(|c| *c == mark).count()
}

#[cfg(test)]
mod tests;
