//! Where code is cut: before its outermost items, as its indentation and its empty lines show them.

use super::cutter::Break;

/// Starts of lines; the farther out and the more apart from what is above, the higher the rank.
pub(super) fn breaks(text: &str) -> Vec<Break> {
    let mut breaks = Vec::new();
    let (mut at, mut after_blank, mut belongs_to_next) = (0, false, false);
    for line in text.split_inclusive('\n') {
        let code = line.trim();
        if code.is_empty() {
            (after_blank, belongs_to_next) = (true, false);
        } else {
            let indent = indent(line);
            let closes = code.starts_with(['}', ')', ']']);
            let rank = match (after_blank, indent) {
                _ if closes || belongs_to_next => 0,
                (true, 0) => 5,
                (true, 1..=4) => 4,
                (true, _) => 3,
                (false, 0) => 2,
                (false, _) => 1,
            };
            breaks.push(Break { at, rank });
            (after_blank, belongs_to_next) = (false, is_above_item(code));
        }
        at += line.len();
    }
    breaks
}

/// Comments, attributes and decorators stay with what they are about.
fn is_above_item(code: &str) -> bool {
    code.starts_with("//")
        || code.starts_with("/*")
        || code.starts_with("* ")
        || code.starts_with(['#', '@'])
        || code.starts_with("-- ")
        || code == "*/"
}

fn indent(line: &str) -> usize {
    line.bytes()
        .map_while(|byte| match byte {
            b' ' => Some(1),
            b'\t' => Some(4),
            _ => None,
        })
        .sum()
}
