//! Where tables are cut: between rows, with the header above those of each piece.

use super::cutter::{Break, Cutter};

/// Gives out pieces of rows and the header that stands above them. The first has its header in it.
pub(super) fn pieces<'a>(cutter: &Cutter<'a>, mut emit: impl FnMut(usize, usize, Option<&'a str>)) {
    let text = cutter.text;
    let mut rows = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if !line.trim().is_empty() {
            rows.push(Break { at, rank: 1 });
        }
        at += line.len();
    }
    let (Some(first), second) = (rows.first(), rows.get(1)) else { return };
    let header_end = second.map_or(text.len(), |row| row.at);
    let header = text[first.at..header_end].trim_end();
    let cutter = Cutter { overlap: 0, ..*cutter };
    // a long header would leave no room for rows
    if header.len() * 2 > cutter.limit || text.len() - first.at <= cutter.limit {
        return cutter.pieces(first.at..text.len(), &rows, |start, end| emit(start, end, None));
    }
    let header_len = header.len() + 1;
    let below = Cutter { limit: cutter.limit - header_len, ..cutter };
    let mut is_first = true;
    below.pieces(header_end..text.len(), &rows, |start, end| match std::mem::take(&mut is_first) {
        true => emit(first.at, end, None),
        false => emit(start, end, Some(header)),
    });
}

/// The rows of a piece below their header, without empty ones.
pub(super) fn text(header: Option<&str>, piece: &str) -> String {
    let mut text = String::with_capacity(header.map_or(0, str::len) + piece.len() + 1);
    for row in header.into_iter().chain(piece.lines()).filter(|row| !row.trim().is_empty()) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(row);
    }
    text
}
