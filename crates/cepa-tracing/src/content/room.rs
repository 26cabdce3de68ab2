//! How much may still be written.

use std::{borrow::Cow, io};

use cepa_core::serde_json;
use serde::Serialize;

use crate::capture::cut_at;

/// Bytes of JSON that may still be written.
pub(super) struct Room(usize);

impl Room {
    pub(super) fn new(bytes: usize) -> Self {
        Self(bytes)
    }

    /// Whether there is room for the JSON of a value. If so, it takes the room.
    pub(super) fn takes<T: Serialize + ?Sized>(&mut self, value: &T) -> bool {
        let mut rest = Rest(self.0);
        let fits = serde_json::to_writer(&mut rest, value).is_ok();
        if fits {
            // And the comma behind it.
            self.0 = rest.0.saturating_sub(1);
        }
        fits
    }

    /// Whether there is room for a text outside of JSON.
    pub(super) fn takes_as_it_is(&mut self, text: &str) -> bool {
        let rest = self.0.checked_sub(text.len());
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// As much of a text as there is room for within quotes, and how much is missing.
    pub(super) fn head<'t>(&mut self, text: Cow<'t, str>) -> Cow<'t, str> {
        for (at, c) in text.char_indices() {
            match self.0.checked_sub(written(c)) {
                Some(rest) => self.0 = rest,
                None => {
                    self.close();
                    return Cow::Owned(cut_at(&text, at));
                }
            }
        }
        text
    }

    /// Lets nothing in any more.
    pub(super) fn close(&mut self) {
        self.0 = 0;
    }
}

/// How many bytes a character takes in JSON.
fn written(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\x08' | '\x0c' => 2,
        '\0'..='\x1f' => 6,
        _ => c.len_utf8(),
    }
}

/// Counts what is written, up to where there is no room any more.
struct Rest(usize);

impl io::Write for Rest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_take_what_serde_json_writes() {
        for c in ('\0'..='\u{2100}').chain(['\u{ffff}', '😀']) {
            assert_eq!(written(c) + 2, serde_json::to_string(&c).unwrap().len(), "{c:?}");
        }
    }

    #[test]
    fn a_text_is_cut_where_the_room_ends() {
        let head = |bytes, text: &str| Room::new(bytes).head(text.to_owned().into()).into_owned();
        assert_eq!(head(4, "a\nb"), "a\nb");
        assert_eq!(head(3, "a\nbc"), "a\n… [2 bytes left out]");
        assert_eq!(head(2, "a\nbc"), "a… [3 bytes left out]");
        assert_eq!(head(1, "é"), "… [2 bytes left out]");
    }
}
