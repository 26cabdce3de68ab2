//! Where a text is cut: one pass, which looks at each part of the text a bounded number of times.

use std::ops::Range;

use unicode_segmentation::GraphemeCursor;

/// A place where a text may be cut, at the start of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Break {
    pub(super) at: usize,
    /// The higher, the better.
    pub(super) rank: u8,
}

/// What a cut within a line or after it ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ends {
    Word,
    Line,
    Sentence,
    Paragraph,
}

/// Cuts a text into pieces of at most `limit` bytes, of which `overlap` are shared with the piece before.
#[derive(Clone, Copy)]
pub(super) struct Cutter<'a> {
    pub(super) text: &'a str,
    pub(super) limit: usize,
    pub(super) overlap: usize,
}

impl Cutter<'_> {
    /// Gives out the pieces of this range, which begins at a line. The breaks are in order, those outside of the range
    /// are not looked at.
    pub(super) fn pieces(&self, range: Range<usize>, breaks: &[Break], mut emit: impl FnMut(usize, usize)) {
        let mut breaks = &breaks[breaks.partition_point(|at| at.at <= range.start)..];
        let (mut start, mut done) = (range.start, range.start);
        while done < range.end {
            let cut = match range.end - start <= self.limit {
                true => range.end,
                false => match self.cut(start, done, range.end, breaks) {
                    Some(cut) => cut,
                    // nothing fits behind the overlap
                    None if start < done => {
                        start = done;
                        continue;
                    }
                    None => self.grapheme_end(start, range.end),
                },
            };
            let (first, last) = self.trimmed(start, cut);
            // white space that follows a piece would only repeat the piece's end
            if last > done {
                emit(first, last);
            }
            breaks = &breaks[breaks.partition_point(|at| at.at <= cut)..];
            start = if cut < range.end {
                self.overlap_start(start, cut, range.end, !breaks.is_empty())
            } else {
                cut
            };
            done = cut;
        }
    }

    /// The best place behind `done` to end a piece that begins at `start`.
    fn cut(&self, start: usize, done: usize, end: usize, breaks: &[Break]) -> Option<usize> {
        let hard = self.char_boundary(start + self.limit).min(end);
        let within = &breaks[..breaks.partition_point(|at| at.at <= hard)];
        let quarter = done.max(start + self.limit / 4);
        let best = within.iter().rev().take_while(|at| at.at > quarter);
        // the last of those with the highest rank
        if let Some(best) = best.reduce(|best, at| if at.rank > best.rank { at } else { best }) {
            return Some(best.at);
        }
        let half = done.max(start + self.limit / 2);
        let mut found: Option<(Ends, usize)> = None;
        for at in (half + 1..=hard).rev() {
            if let Some(ends) = self.ends(at)
                && found.is_none_or(|(best, _)| ends > best)
                && self.is_grapheme_boundary(start, at, end)
            {
                found = Some((ends, at));
                if ends == Ends::Paragraph {
                    break;
                }
            }
        }
        if let Some((_, at)) = found {
            return Some(at);
        }
        let word = (done + 1..=half)
            .rev()
            .find(|at| self.ends(*at).is_some() && self.is_grapheme_boundary(start, *at, end));
        word.or_else(|| self.grapheme_before(start, hard, end).filter(|at| *at > done))
    }

    /// What ends right before this place, if anything does.
    fn ends(&self, at: usize) -> Option<Ends> {
        let bytes = self.text.as_bytes();
        match bytes[at - 1] {
            b'\n' => {
                let before = &bytes[..at - 1];
                let spaces =
                    before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
                let before = &before[..before.len() - spaces];
                Some(match before.last() {
                    None | Some(b'\n') => Ends::Paragraph,
                    _ if ends_sentence(before) => Ends::Sentence,
                    _ => Ends::Line,
                })
            }
            b' ' | b'\t' if matches!(bytes.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) => None,
            b' ' | b'\t' if ends_sentence(&bytes[..at - 1]) => Some(Ends::Sentence),
            b' ' | b'\t' => Some(Ends::Word),
            // 。 ！ ？ end sentences, 、 ， and the wide space do not
            0x80..=0xBF if self.text.is_char_boundary(at) => match &bytes[..at] {
                [.., 0xE3, 0x80, 0x82] | [.., 0xEF, 0xBC, 0x81 | 0x9F] => Some(Ends::Sentence),
                [.., 0xE3, 0x80, 0x80 | 0x81] | [.., 0xEF, 0xBC, 0x8C] => Some(Ends::Word),
                _ => None,
            },
            _ => None,
        }
    }

    /// Where the piece after this cut begins: at the start of a sentence, line or word, if there is one.
    fn overlap_start(&self, start: usize, cut: usize, end: usize, by_lines: bool) -> usize {
        if self.overlap == 0 {
            return cut;
        }
        let from = cut.saturating_sub(self.overlap).max(start + 1);
        let middle = from + cut.saturating_sub(from) / 2;
        let mut found: Option<(Ends, usize)> = None;
        for at in from..cut {
            let Some(mut ends) = self.ends(at) else { continue };
            if by_lines && ends == Ends::Sentence {
                ends = if self.text.as_bytes()[at - 1] == b'\n' { Ends::Line } else { Ends::Word };
            }
            let is_better = found
                .is_none_or(|(best, _)| ends.min(Ends::Sentence) > best.min(Ends::Sentence) && at <= middle);
            if is_better && self.is_grapheme_boundary(start, at, end) {
                found = Some((ends, at));
                if ends >= Ends::Sentence {
                    break;
                }
            }
        }
        match found {
            Some((_, at)) => at,
            None => self.grapheme_at_or_after(start, self.char_boundary(from).max(start), end).min(cut),
        }
    }

    /// Without empty lines before it and without white space after it.
    fn trimmed(&self, start: usize, end: usize) -> (usize, usize) {
        let piece = &self.text[start..end];
        let spaces = piece.len() - piece.trim_start().len();
        let first = start + piece[..spaces].rfind('\n').map_or(0, |at| at + 1);
        let last = start + piece.trim_end().len();
        if last < first {
            return (start, start);
        }
        (first, if self.is_grapheme_boundary(start, last, self.text.len()) { last } else { end })
    }

    /// The last start of a code point here or before.
    fn char_boundary(&self, at: usize) -> usize {
        (0..=at).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or(0)
    }

    fn is_grapheme_boundary(&self, start: usize, at: usize, end: usize) -> bool {
        if at == start || at == end {
            return true;
        }
        let bytes = self.text.as_bytes();
        let (before, after) = (bytes[at - 1], bytes[at]);
        if before.is_ascii() && after.is_ascii() {
            return (before, after) != (b'\r', b'\n');
        }
        // the text from `start` on is enough: a character begins there
        let text = &self.text[start..end];
        GraphemeCursor::new(at - start, text.len(), true).is_boundary(text, 0).unwrap_or(false)
    }

    /// The last end of a character at `at` or before, behind `start`.
    fn grapheme_before(&self, start: usize, at: usize, end: usize) -> Option<usize> {
        if at > start && self.is_grapheme_boundary(start, at, end) {
            return Some(at);
        }
        let text = &self.text[start..end];
        let mut cursor = GraphemeCursor::new(at - start, text.len(), true);
        let before = cursor.prev_boundary(text, 0).ok().flatten()?;
        (before > 0).then_some(start + before)
    }

    fn grapheme_at_or_after(&self, start: usize, at: usize, end: usize) -> usize {
        if self.is_grapheme_boundary(start, at, end) {
            return at;
        }
        let text = &self.text[start..end];
        let mut cursor = GraphemeCursor::new(at - start, text.len(), true);
        cursor.next_boundary(text, 0).ok().flatten().map_or(end, |at| start + at)
    }

    /// The end of the character that begins here and is longer than the limit.
    fn grapheme_end(&self, start: usize, end: usize) -> usize {
        let text = &self.text[start..end];
        GraphemeCursor::new(0, text.len(), true)
            .next_boundary(text, 0)
            .ok()
            .flatten()
            .map_or(end, |at| start + at)
    }
}

/// Whether a sentence ends here, with quotes and brackets behind its mark.
fn ends_sentence(text: &[u8]) -> bool {
    let closing = text
        .iter()
        .rev()
        .take(3)
        .take_while(|byte| matches!(byte, b'"' | b'\'' | b')' | b']' | b'*' | b'_'))
        .count();
    match &text[..text.len() - closing] {
        [.., b'.' | b'!' | b'?'] => true,
        // … 。 and ！ ？
        [.., 0xE2, 0x80, 0xA6] | [.., 0xE3, 0x80, 0x82] | [.., 0xEF, 0xBC, 0x81 | 0x9F] => true,
        _ => false,
    }
}

/// Which lines pieces are in, when they are asked for in order.
pub(super) struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str, first: u32) -> Self {
        Self { text, at: 0, line: first }
    }

    pub(super) fn of(&mut self, start: usize, end: usize) -> (u32, u32) {
        if start > self.at {
            self.line = self.line.saturating_add(self.count(self.at, start));
            self.at = start;
        }
        (self.line, self.line.saturating_add(self.count(start, end)))
    }

    fn count(&self, start: usize, end: usize) -> u32 {
        let lines = memchr::memchr_iter(b'\n', &self.text.as_bytes()[start..end]).count();
        u32::try_from(lines).unwrap_or(u32::MAX)
    }
}
