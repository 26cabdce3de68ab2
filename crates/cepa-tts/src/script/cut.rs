//! Cutting long text for models that take only so much.

use unicode_segmentation::UnicodeSegmentation as _;

use super::sentences::sentences;

/// The text in parts of at most `max` characters: as many whole sentences as fit, else up to a comma, else words, else
/// characters as a reader sees them. Joined they are the text; only a single such character may be longer.
pub(super) fn cut(text: &str, max: usize) -> Vec<String> {
    if length(text) <= max {
        return vec![text.to_owned()];
    }
    let mut parts = Vec::new();
    let (mut part, mut part_length) = (String::new(), 0);
    for sentence in sentences(text) {
        let sentence_length = length(sentence);
        if part_length + sentence_length > max && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
            part_length = 0;
        }
        if sentence_length > max {
            cut_sentence(sentence, max, &mut parts);
        } else {
            part.push_str(sentence);
            part_length += sentence_length;
        }
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

fn cut_sentence(mut rest: &str, max: usize, parts: &mut Vec<String>) {
    while length(rest) > max {
        let (part, after) = rest.split_at(place(rest, max));
        parts.push(part.to_owned());
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(rest.to_owned());
    }
}

/// Where to cut a text that is too long: not in a character, and after at least one.
fn place(text: &str, max: usize) -> usize {
    let (mut end, mut taken) = (0, 0);
    let (mut after_comma, mut after_space) = (None, None);
    for grapheme in text.graphemes(true) {
        taken += length(grapheme);
        if taken > max && end > 0 {
            break;
        }
        end += grapheme.len();
        match grapheme.chars().next() {
            Some(',' | ';' | ':') if text[end..].starts_with(' ') => after_comma = Some(end),
            Some('，' | '、' | '；' | '：' | '—') => after_comma = Some(end),
            Some(c) if c.is_whitespace() => {
                // The space goes with the comma before it.
                if after_comma == Some(end - grapheme.len()) {
                    after_comma = Some(end);
                }
                after_space = Some(end);
            }
            _ => {}
        }
    }
    // A comma near the beginning would leave a scrap.
    after_comma.filter(|at| *at >= end / 2).or(after_space).unwrap_or(end)
}

fn length(text: &str) -> usize {
    text.chars().count()
}
