//! Texts within a number of tokens.

/// The estimate of AgentScope 2.0.11: a quarter of the bytes.
pub(super) fn tokens(bytes: usize) -> usize {
    (bytes + 2) / 4
}

/// The beginning of a text that is at most so many tokens, cut where AgentScope 2.0.11 cuts it.
pub(super) fn cut(text: &str, max: usize) -> &str {
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

#[cfg(test)]
mod tests {
    use super::*;

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
