//! Markdown as it is spoken.
//!
//! A parser of Markdown needs whole paragraphs, and speech begins with the first sentence. So this reads mark by mark and
//! holds back only what is undecided: a link until its end, a run of `*` until the character after it.

mod inline;
mod line;

use super::TextFilter;

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
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    LineStart,
    Inline,
    /// In a code fence, which ends with so many of this character.
    Fence(char, usize),
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
        Self { held: String::new(), state: State { place: Place::LineStart, before: None, code: None } }
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
            let text = &self.held[at..];
            let Some(token) = self.state.next(text, complete) else { break };
            let read = &text[..token.read];
            match token.spoken {
                Spoken::Nothing => {}
                Spoken::AsItIs => spoken.push_str(read),
                Spoken::As(text) => spoken.push_str(&text),
            }
            self.state.before = read.chars().next_back().or(self.state.before);
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
            Place::Fence(mark, length) => fenced(text, complete, mark, length),
            Place::Skipped => match text.find('\n') {
                Some(end) => Token::drop(end + 1, Place::LineStart),
                None => Token::drop(text.len(), Place::Skipped),
            },
        }
    }
}

/// A line in a code fence: left out, and the last one is the one that closes it.
fn fenced(text: &str, complete: bool, mark: char, length: usize) -> Decision {
    let end = match text.find('\n') {
        Some(end) => end + 1,
        None if complete => text.len(),
        None => return None,
    };
    let line = text[..end].trim();
    let closes = line.len() >= length && line.chars().all(|c| c == mark);
    Token::drop(end, if closes { Place::LineStart } else { Place::Fence(mark, length) })
}

/// How often the character is at the beginning of the text.
fn run(text: &str, mark: char) -> usize {
    text.chars().take_while(|c| *c == mark).count()
}

#[cfg(test)]
mod tests;
