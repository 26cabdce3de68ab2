//! Parsers of office documents: zip archives with XML in them.

mod archive;
mod blocks;
mod excel;
mod powerpoint;
mod word;
mod xml;

pub use self::{excel::ExcelParser, powerpoint::PowerPointParser, word::WordParser};

/// 256 MiB: what a document may unpack to. Archives of some kilobytes can unpack to gigabytes.
const MAX_UNPACKED: u64 = 256 << 20;

/// The words of a text, on one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
