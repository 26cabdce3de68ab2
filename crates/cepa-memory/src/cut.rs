//! Texts within a number of tokens.

use std::borrow::Cow;

/// The estimate of AgentScope 2.0.11: a quarter of the bytes.
pub(crate) fn tokens(bytes: usize) -> usize {
    (bytes + 2) / 4
}

/// The beginning of a text that is at most so many tokens, cut where AgentScope 2.0.11 cuts it.
pub(crate) fn cut(text: &str, max: usize) -> &str {
    let all = tokens(text.len());
    if all <= max {
        return text;
    }
    let share = max as f64 / all as f64;
    let mut chars = (share * text.chars().count() as f64) as usize;
    loop {
        let end = text.char_indices().nth(chars).map_or(text.len(), |(end, _)| end);
        if tokens(end) <= max {
            return &text[..end];
        }
        // Signs of several bytes stand where the average is not.
        chars = chars.saturating_sub(10);
    }
}

/// A text of at most about so many tokens: a longer one by its beginning and its end, as either may say what is wanted.
pub(crate) fn both_ends(text: &str, max: usize) -> Cow<'_, str> {
    if tokens(text.len()) <= max {
        return text.into();
    }
    // A token is four bytes; half of them at each end.
    let half = max.saturating_mul(2);
    let (head, _) = split(text, half);
    let (_, tail) = split(text, text.len().saturating_sub(half));
    format!("{head} […] {tail}").into()
}

/// A text in two, at this byte, or at the one before where the sign begins.
pub(crate) fn split(text: &str, at: usize) -> (&str, &str) {
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

    #[test]
    fn a_text_is_cut_within_its_tokens_and_never_inside_of_a_sign() {
        assert_eq!(cut("abcd", 1), "abcd");
        assert_eq!(cut("abcdefgh", 1), "abcd");
        assert_eq!(cut("abcdefgh", 0), "");
        for max in 0..50 {
            let text = format!("{}{}", "🦀".repeat(30), "a".repeat(100));
            assert!(tokens(cut(&text, max).len()) <= max);
        }
    }
}
