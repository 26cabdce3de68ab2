//! Sentences: where they end in Latin scripts, in Chinese and in Japanese.
//!
//! The ends are those of Unicode (UAX #29), but for what it does not know: abbreviations, the ellipsis, and
//! quotes that open where there are no spaces.

use unicode_segmentation::UnicodeSegmentation as _;

use super::cut::cut;

/// Words that end with a dot and never end a sentence. (`etc.` or `Inc.` may.)
const ABBREVIATIONS: [&str; 27] = [
    "approx", "ave", "capt", "cf", "col", "dr", "fr", "ft", "gen", "gov", "hr", "lt", "mlle", "mme", "mr",
    "mrs", "ms", "mt", "prof", "rep", "rev", "sen", "sgt", "sr", "sra", "st", "vs",
];

/// Without a space before them, Unicode counts them to the sentence that ends.
const OPENING: [char; 8] = ['「', '『', '（', '《', '〈', '【', '“', '‘'];

/// The sentences of a text, each with the space after it. Joined they are the text.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut bounds = text.split_sentence_bound_indices().peekable();
    let mut start = 0;
    std::iter::from_fn(move || {
        loop {
            let (index, piece) = bounds.next()?;
            let end = index + piece.len();
            let is_last = bounds.peek().is_none();
            if !is_last && goes_on(&text[start..end]) {
                continue;
            }
            let closed = text[start..end].trim_end_matches(OPENING).len();
            let end = if is_last || closed == 0 { end } else { start + closed };
            return Some(&text[std::mem::replace(&mut start, end)..end]);
        }
    })
    .flat_map(Ellipses::of)
}

/// Whether what ends here is no sentence: it ends with an abbreviation, an initial, or the number of a list. Letters with
/// dots (`U.S.`, `p.m.`, `e.g.`) are taken for abbreviations also where a sentence ends with them.
fn goes_on(text: &str) -> bool {
    let Some(text) = text.trim_end_matches([' ', '\t', '\u{a0}']).strip_suffix('.') else { return false };
    let before = text.rfind(|c: char| !(c.is_alphanumeric() || c == '.'));
    let word = match before {
        Some(at) => text[at..].trim_start_matches(|c: char| !c.is_alphanumeric()),
        None => text,
    };
    let mut characters = word.chars();
    match (characters.next(), characters.next()) {
        (None, _) => false,
        (Some(initial), None) if initial.is_uppercase() => true,
        (Some(_), _) if word.chars().all(|c| c.is_ascii_digit()) => text.trim_start().len() == word.len(),
        (_, Some('.')) if word.split('.').all(is_letter) => true,
        _ => ABBREVIATIONS.contains(&word.to_lowercase().as_str()),
    }
}

fn is_letter(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(char::is_alphabetic) && characters.next().is_none()
}

/// The parts of a sentence that ends with `…` in its middle as well.
struct Ellipses<'a>(&'a str);

impl<'a> Ellipses<'a> {
    fn of(text: &'a str) -> Self {
        Self(text)
    }
}

impl<'a> Iterator for Ellipses<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.0;
        if text.is_empty() {
            return None;
        }
        let ends = text.char_indices().filter(|(_, c)| *c == '…').map(|(at, c)| at + c.len_utf8());
        let end = ends.filter_map(|at| end_after_ellipsis(text, at)).next().unwrap_or(text.len());
        let (sentence, rest) = text.split_at(end);
        self.0 = rest;
        Some(sentence)
    }
}

/// Where the sentence ends whose ellipsis ends at `at`, if one does: a sentence begins right after it in Chinese and
/// Japanese, after a space and with a capital letter elsewhere.
fn end_after_ellipsis(text: &str, at: usize) -> Option<usize> {
    let closed = text[at..].trim_start_matches(['"', '\'', '”', '’', '»', '」', '』', '）', ')', '】', '》']);
    let rest = closed.trim_start_matches([' ', '\t', '\u{a0}', '\u{3000}']);
    let next = rest.chars().next()?;
    let begins =
        next >= '\u{2e80}' && next.is_alphabetic() || rest.len() < closed.len() && next.is_uppercase();
    begins.then(|| text.len() - rest.len())
}

/// Gives out sentences as they are complete. How the text is cut makes no difference, but to sentences that are too long.
pub(super) struct Sentences {
    pub(super) held: String,
    /// Something in it may end a sentence: else nobody has to look for one.
    pub(super) may_end: bool,
    /// Longer texts, in characters, are not held: they are given out in parts before they are complete.
    max_length: usize,
}

impl Sentences {
    pub(super) fn new(max_length: usize) -> Self {
        Self { held: String::new(), may_end: false, max_length }
    }

    /// Takes more text and gives out the sentences that are known to be complete.
    pub(super) fn push(&mut self, text: &str) -> Vec<String> {
        self.held.push_str(text);
        self.may_end = self.may_end || text.chars().any(may_end);
        let (mut complete, mut end) = (Vec::new(), 0);
        if self.may_end {
            for sentence in sentences(&self.held) {
                let after = end + sentence.len();
                if !is_certain(sentence, &self.held[after..]) {
                    break;
                }
                complete.push(sentence.to_owned());
                end = after;
            }
            self.held.drain(..end);
        }
        if self.held.len() > self.max_length && self.held.chars().count() > self.max_length {
            let mut parts = cut(&self.held, self.max_length);
            self.held = parts.pop().unwrap_or_default();
            complete.append(&mut parts);
        }
        if !complete.is_empty() {
            self.may_end = self.held.chars().any(may_end);
        }
        complete
    }

    /// The sentences that are left, at the end of the text.
    pub(super) fn finish(&mut self) -> Vec<String> {
        let held = std::mem::take(&mut self.held);
        sentences(&held).map(str::to_owned).collect()
    }
}

/// Whether a sentence can end with this character.
fn may_end(c: char) -> bool {
    // Unicode is asked: its list is long.
    !(c.is_ascii_alphanumeric() || matches!(c, ' ' | ','))
        && (c == '…' || format!("a{c} A").split_sentence_bounds().nth(1).is_some())
}

/// Whether a sentence ends here whatever comes: a line ends, or the next sentence has its first letter. Before that, a
/// small letter after some digits would make one sentence of both.
fn is_certain(sentence: &str, rest: &str) -> bool {
    let letter = |grapheme: &str| grapheme.chars().next().is_some_and(char::is_alphabetic);
    sentence.ends_with('\n') || rest.graphemes(true).any(letter)
}
