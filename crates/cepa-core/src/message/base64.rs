//! Joining texts of base64 as if their bytes were joined.

use base64::{DecodeError, Engine as _, engine::general_purpose::STANDARD};

/// Appends the bytes of `more` to those of `text`. Only the last group of four digits of `text` is ever decoded, so
/// that a long stream of pieces costs no more than its length.
pub(crate) fn append(text: &mut String, more: &str) -> Result<(), DecodeError> {
    if !text.ends_with('=') {
        STANDARD.decode(more)?; // a broken piece must not spoil what is there
        text.push_str(more);
        return Ok(());
    }
    let whole = text.len().saturating_sub(4);
    let mut bytes = STANDARD.decode(text.as_bytes().get(whole..).unwrap_or_default())?;
    STANDARD.decode_vec(more, &mut bytes)?;
    text.truncate(whole);
    STANDARD.encode_string(bytes, text);
    Ok(())
}

/// As [`append`], for pieces that nobody can ask about: what is not base64 is joined as it is.
pub(crate) fn append_any(text: &mut String, more: &str) {
    if append(text, more).is_err() {
        text.push_str(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_length_join() {
        for (pieces, joined) in [
            (&["AAE=", "Ag=="][..], "AAEC"),
            (&["", "AAE="], "AAE="),
            (&["AAEC", "AwQ=", ""], "AAECAwQ="),
            (&["AA==", "AQ==", "Ag==", "Aw=="], "AAECAw=="),
        ] {
            let mut text = String::new();
            for piece in pieces {
                append(&mut text, piece).unwrap();
            }
            assert_eq!(text, joined, "{pieces:?}");
        }
    }

    #[test]
    fn a_broken_piece_changes_nothing() {
        for start in ["AAE=", "AAEC"] {
            let mut text = start.to_owned();
            assert!(append(&mut text, "?").is_err());
            assert_eq!(text, start);
        }
    }
}
