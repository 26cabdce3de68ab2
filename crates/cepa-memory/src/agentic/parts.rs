//! Where texts are split that may not go whole.

use std::borrow::Cow;

use super::cut::tokens;

/// A text of at most about so many tokens: a longer one by its beginning and its end, as either may say what is wanted.
pub(super) fn both_ends(text: &str, max: usize) -> Cow<'_, str> {
    if tokens(text.len()) <= max {
        return text.into();
    }
    // A token is four bytes; half of them at each end.
    let (head, _) = split(text, 2 * max);
    let (_, tail) = split(text, text.len() - 2 * max);
    format!("{head} […] {tail}").into()
}

/// A text in two, at this byte, or at the one before where the sign begins.
pub(super) fn split(text: &str, at: usize) -> (&str, &str) {
    let is_end = |end: &usize| text.is_char_boundary(*end);
    text.split_at((0..=at.min(text.len())).rev().find(is_end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_both_of_its_ends() {
        assert_eq!(both_ends("abcdefgh", 2), "abcdefgh");
        assert_eq!(both_ends("abcdefghijkl", 2), "abcd […] ijkl");
        assert_eq!(both_ends("ü🦀🦀🦀🦀ü", 1), "ü […] ü");
    }
}
