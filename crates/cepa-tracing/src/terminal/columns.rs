//! Texts of a width on a terminal.

use unicode_width::UnicodeWidthChar as _;

use crate::view::visible;

/// A text that a terminal shows as it is, in so many columns at most.
pub(super) fn cut(text: &str, columns: usize) -> String {
    let mut cut = String::new();
    let mut used = 0;
    let mut characters = text.chars().map(visible);
    while let Some(c) = characters.next() {
        let wide = c.width().unwrap_or(0);
        let more = characters.clone().map(|c| c.width().unwrap_or(0)).any(|wide| wide > 0);
        if used + wide + usize::from(more) > columns {
            cut.push('…');
            break;
        }
        cut.push(c);
        used += wide;
    }
    cut
}

/// How many columns a text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// A text with spaces behind it.
pub(super) fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// A text with spaces before it.
pub(super) fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_by_the_columns_it_takes() {
        assert_eq!(cut("weather", 7), "weather");
        assert_eq!(cut("weather", 6), "weath…");
        assert_eq!(cut("天気予報", 8), "天気予報");
        assert_eq!(cut("天気予報", 7), "天気予…");
        assert_eq!(cut("天気予報", 6), "天気…");
        assert_eq!(cut("e\u{301}te\u{301}", 3), "e\u{301}te\u{301}");
        assert_eq!(cut("a\x1b[2Jb", 10), "a␛[2Jb");
        assert_eq!(cut("a", 0), "…");
    }

    #[test]
    fn a_text_is_filled_by_the_columns_it_takes() {
        assert_eq!(left("天気", 6), "天気  ");
        assert_eq!(right("7", 3), "  7");
        assert_eq!(right("1000", 3), "1000");
    }
}
