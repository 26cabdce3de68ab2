//! The text of a model that speaks one piece after the other.

use super::TtsText;

/// The pieces of a text that have words in them.
pub(crate) struct Sentences {
    text: TtsText,
    /// Whether each piece goes alone; else they go as one.
    single: bool,
}

impl Sentences {
    pub(crate) fn new(text: TtsText, single: bool) -> Self {
        Self { text, single }
    }

    /// The next to speak.
    pub(crate) async fn next(&mut self) -> Option<String> {
        let mut all = String::new();
        while let Some(piece) = self.text.next().await {
            if self.single && !is_blank(&piece) {
                return Some(piece);
            }
            // Sentences may come without what was between them.
            if !all.is_empty()
                && !all.ends_with(char::is_whitespace)
                && !piece.starts_with(char::is_whitespace)
            {
                all.push(' ');
            }
            all.push_str(&piece);
        }
        (!is_blank(&all)).then_some(all)
    }
}

/// A text with nothing to say.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c.is_control())
}
