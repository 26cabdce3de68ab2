//! From a text to its sentences, each with the place it stands in.

use super::words::is_unspaced;

/// A line that is shorter was ended on purpose; a longer one was wrapped, and the next one goes on with it.
const WRAPPED: usize = 50;
/// Longer sentences are cut.
const LONGEST: usize = 400;

/// A sentence and where it is from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Passage {
    pub(super) text: String,
    /// `path:line`, `path`, or who said it.
    pub(super) source: String,
    /// The file, if it is from one.
    pub(super) path: Option<String>,
    /// Words that tell what it is about: its heading, its file's name.
    pub(super) context: String,
}

impl Passage {
    pub(super) fn new(text: impl Into<String>, source: impl Into<String>) -> Self {
        Self { text: text.into(), source: source.into(), ..Self::default() }
    }
}

/// A line of a text, and its number where that is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    pub(super) number: Option<u64>,
}

/// The sentences of these lines. `source` is the file they are from, or who said them.
pub(super) fn sentences(lines: &[Line<'_>], source: &str, is_file: bool) -> Vec<Passage> {
    let mut passages = Vec::new();
    let mut heading = String::new();
    let mut paragraph = Paragraph::default();
    for line in lines {
        let text = line.text.trim();
        let is_heading = text.starts_with('#') && text.trim_start_matches('#').starts_with(' ');
        if text.is_empty() || is_heading || begins_item(text) || !paragraph.is_wrapped {
            paragraph.end(source, is_file, &heading, &mut passages);
        }
        if is_heading {
            text.trim_start_matches('#').trim().clone_into(&mut heading);
        } else if !text.is_empty() {
            paragraph.add(text, line.number);
        }
    }
    paragraph.end(source, is_file, &heading, &mut passages);
    passages
}

/// List items and table rows stand for themselves.
fn begins_item(text: &str) -> bool {
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    text.starts_with(['-', '*', '+', '|', '•'])
        || text.starts_with("```")
        || (number.len() < text.len() && number.starts_with([')', '.']) && number[1..].starts_with(' '))
}

/// Lines that belong together.
#[derive(Default)]
struct Paragraph {
    text: String,
    /// Where each line begins in the text, and its number.
    starts: Vec<(usize, Option<u64>)>,
    is_wrapped: bool,
}

impl Paragraph {
    fn add(&mut self, text: &str, number: Option<u64>) {
        if !self.text.is_empty() && !self.text.ends_with(is_unspaced) {
            self.text.push(' ');
        }
        self.starts.push((self.text.len(), number));
        self.text.push_str(text);
        let width: usize = text.chars().map(|c| if is_unspaced(c) { 2 } else { 1 }).sum();
        self.is_wrapped = width >= WRAPPED;
    }

    fn end(&mut self, source: &str, is_file: bool, heading: &str, passages: &mut Vec<Passage>) {
        let Self { text, starts, .. } = std::mem::take(self);
        let mut start = 0;
        for end in sentence_ends(&text) {
            let sentence = text[start..end].trim();
            let line = starts.iter().rev().find(|(begin, _)| *begin <= start).and_then(|(_, number)| *number);
            start = end + (text[end..].len() - text[end..].trim_start().len());
            let sentence = without_marker(sentence);
            if !sentence.chars().any(char::is_alphanumeric) {
                continue;
            }
            passages.push(Passage {
                text: cut(sentence),
                source: line.map_or_else(|| source.to_owned(), |line| format!("{source}:{line}")),
                path: is_file.then(|| source.to_owned()),
                context: if is_file { format!("{source} {heading}") } else { heading.to_owned() },
            });
        }
    }
}

/// The text of a list item, a quotation or a table row, without what marks it as one.
fn without_marker(mut text: &str) -> &str {
    while let Some(rest) =
        ["- ", "* ", "+ ", "• ", "> ", "| "].iter().find_map(|mark| text.strip_prefix(mark))
    {
        text = rest.trim_start();
    }
    text.strip_suffix(" |").unwrap_or(text)
}

/// Where sentences end: after `.`, `!` or `?` before a space and no small letter, and after their full-width
/// brothers.
fn sentence_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    for (position, c) in text.char_indices() {
        let after = position + c.len_utf8();
        let ends_here = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => {
                let rest = &text[after..];
                rest.starts_with(char::is_whitespace)
                    && !rest.trim_start().starts_with(char::is_lowercase)
                    && !ends_in_abbreviation(&text[..position])
            }
            _ => false,
        };
        if ends_here {
            ends.push(after);
        }
    }
    if ends.last() != Some(&text.len()) && !text.is_empty() {
        ends.push(text.len());
    }
    ends
}

fn ends_in_abbreviation(text: &str) -> bool {
    let word = text.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    matches!(word, "e.g" | "i.e" | "Dr" | "Mr" | "Mrs" | "Ms" | "St" | "No" | "vs" | "approx" | "ca")
        || (word.chars().count() == 1 && word.starts_with(char::is_alphabetic))
}

fn cut(sentence: &str) -> String {
    match sentence.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &sentence[..end]),
        None => sentence.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(String, String)> {
        let lines: Vec<_> =
            text.lines().zip(1..).map(|(text, number)| Line { text, number: Some(number) }).collect();
        sentences(&lines, "a.md", true).into_iter().map(|passage| (passage.text, passage.source)).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(text, source)| ((*text).to_owned(), (*source).to_owned())).collect()
    }

    #[test]
    fn sentences_go_over_wrapped_lines_and_keep_the_line_they_begin_in() {
        let text = "# The pump\n\nThe pump was built in 1987 by a small company in the\nnorth. It weighs 1.5 t, e.g. \
                    as much as\na car.\nColour: blue\n- first item. Of two\n- **second** item\n| a | b |\n";
        assert_eq!(
            split(text),
            pairs(&[
                ("The pump was built in 1987 by a small company in the north.", "a.md:3"),
                ("It weighs 1.5 t, e.g. as much as", "a.md:4"),
                ("a car.", "a.md:5"),
                ("Colour: blue", "a.md:6"),
                ("first item.", "a.md:7"),
                ("Of two", "a.md:7"),
                ("**second** item", "a.md:8"),
                ("a | b", "a.md:9"),
            ])
        );
    }

    #[test]
    fn chinese_sentences_need_no_space() {
        assert_eq!(
            split("泵是蓝色的。它重两吨！"),
            pairs(&[("泵是蓝色的。", "a.md:1"), ("它重两吨！", "a.md:1")])
        );
    }

    #[test]
    fn endless_lines_are_cut() {
        let sentence = &split(&"wörd ".repeat(10_000))[0].0;
        assert_eq!(sentence.chars().count(), LONGEST + 1);
    }
}
