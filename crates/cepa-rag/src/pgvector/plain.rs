//! Texts without NUL, which PostgreSQL does not keep.

/// The text, with another spelling for U+0000, and for U+0001, which that takes. The order stays as it was.
pub(super) fn plain(text: &str) -> String {
    if !text.contains(['\0', '\u{1}']) {
        return text.to_owned();
    }
    text.replace('\u{1}', "\u{1}\u{2}").replace('\0', "\u{1}\u{1}")
}

/// The text as it was.
pub(super) fn unplain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        plain.push(match character {
            '\u{1}' if characters.next() == Some('\u{1}') => '\0',
            other => other,
        });
    }
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{plain, unplain};

    proptest! {
        #[test]
        fn texts_come_back_and_keep_their_order(one in "[\0\u{1}\u{2}\u{3}a]{0,5}", other in "[\0\u{1}\u{2}\u{3}a]{0,5}") {
            prop_assert!(!plain(&one).contains('\0'));
            prop_assert_eq!(unplain(&plain(&one)), one.clone());
            prop_assert_eq!(plain(&one).cmp(&plain(&other)), one.cmp(&other));
        }
    }
}
