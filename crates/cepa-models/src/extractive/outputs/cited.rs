//! Passages that a search has quoted: `[1] (source: guide.md, lines 3-9)`, and the passage below.

use crate::extractive::passages::{Line, Passage, sentences};

/// The sentences of quoted passages, each with its source. `None` where none is quoted.
pub(super) fn passages(output: &str) -> Option<Vec<Passage>> {
    let mut passages = Vec::new();
    let mut group: Vec<Line<'_>> = Vec::new();
    let mut current: Option<(&str, Option<u64>)> = None;
    let mut end = |source: Option<(&str, Option<u64>)>, group: &mut Vec<Line<'_>>| {
        if let Some((source, _)) = source {
            passages.extend(sentences(group, source, true));
        }
        group.clear();
    };
    for line in output.lines() {
        if let Some(source) = head(line) {
            end(current, &mut group);
            current = Some(source);
        } else if let Some((_, first)) = current {
            // What a template has put around them is no part of the last one.
            let text = line.split_once("</content>").map_or(line, |(text, _)| text);
            group.push(Line { text, number: first.map(|first| first + group.len() as u64) });
        }
    }
    end(current, &mut group);
    current.map(|_| passages)
}

/// The source, and the line that its passage begins in. A template may have put something before it.
fn head(line: &str) -> Option<(&str, Option<u64>)> {
    let (before, source) = line.split_once("] (source: ")?;
    let (before, number) = before.rsplit_once('[')?;
    let is_head = (before.is_empty() || before.ends_with('>')) && number.parse::<u32>().is_ok();
    let source = source.strip_suffix(')').filter(|_| is_head)?;
    let lines = source.rsplit_once(", lines ").or_else(|| source.rsplit_once(", line "));
    let first = lines.and_then(|(source, lines)| Some((source, lines.split('-').next()?.parse().ok()?)));
    Some(first.map_or((source, None), |(source, first)| (source, Some(first))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sentence_has_the_source_above_it() {
        let output = "<content>[1] (source: guide.md, Pumps, lines 3-4)\nThe pump is blue.\nIt hums.\n\n\
                      [2] (source: a.pdf, page 2)\nIt weighs [1] a ton.</content></reminder>";
        let found = passages(output).unwrap();
        let found: Vec<_> = found.iter().map(|one| (one.text.as_str(), one.source.as_str())).collect();
        let expected = [
            ("The pump is blue.", "guide.md, Pumps:3"),
            ("It hums.", "guide.md, Pumps:4"),
            ("It weighs [1] a ton.", "a.pdf, page 2"),
        ];
        assert_eq!(found, expected);
        assert!(passages("see [1] (source: a) there\n[x] (source: b)").is_none());
    }
}
