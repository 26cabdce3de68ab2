//! [`CsvParser`].

use super::text::{decoded, parsed};
use crate::{File, Parsed, Parser, RagError, SectionKind};

/// Reads tables of values with separators: CSV and TSV. Its first line is the header, which each chunk has above its
/// rows. Encodings are those of [`TextParser`](crate::TextParser).
///
/// Rows stay as they are written, but for line breaks in quoted values: they become spaces, and the row's lines after
/// its first are empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct CsvParser;

impl Parser for CsvParser {
    fn extensions(&self) -> &[&str] {
        &["csv", "tsv"]
    }

    fn parse(&self, file: &File) -> Result<Parsed, RagError> {
        let text = decoded(file)?;
        let separator = if file.extension() == "tsv" { b'\t' } else { b',' };
        Ok(parsed(file, row_per_line(text, separator), SectionKind::Table))
    }
}

/// With each row on one line, and as many lines as before.
fn row_per_line(text: String, separator: u8) -> String {
    if !text.contains('"') {
        return text;
    }
    let mut rows = String::with_capacity(text.len());
    let (mut quoted, mut at_value, mut held) = (false, true, 0);
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            // a quote within a value that has none around it is a quote
            b'"' if quoted || at_value => quoted = !quoted,
            // after `""` in a value, the value goes on
            b'"' if text.as_bytes()[at - 1] == b'"' => quoted = true,
            b'\n' if quoted => {
                rows.push_str(text[from..at].trim_end_matches('\r'));
                rows.push(' ');
                (from, held) = (at + 1, held + 1);
            }
            b'\n' => {
                rows.push_str(&text[from..=at]);
                rows.extend(std::iter::repeat_n('\n', std::mem::take(&mut held)));
                from = at + 1;
            }
            _ => {}
        }
        at_value = !quoted && (byte == separator || matches!(byte, b'\n' | b';' | b'\t'));
    }
    // a quote that is never closed is no quote
    if quoted {
        return text;
    }
    rows.push_str(&text[from..]);
    rows.extend(std::iter::repeat_n('\n', held));
    rows
}
