//! [`Stream`]: cleaning text that comes in pieces.

#[cfg(test)]
mod tests;

use super::{Cleaner, Found, Hit, cleaner::sort, detector::floor};

/// Text on its way. What may be the beginning of a value is held back until more text decides on it; the pieces that
/// go out add up to what [`Cleaner::clean`] makes of the whole, wherever the borders of the pieces are.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// A little of what has gone out, and what is held back.
    text: String,
    /// Up to here it has gone out, or something else has in its place.
    out: usize,
    /// From where each detector goes on.
    from: Vec<usize>,
    /// Values whose turn has not come yet, in order.
    waiting: Vec<Hit>,
    /// The end of a value that was too long to be held back goes where its beginning went.
    tail: Option<fn(u8) -> bool>,
}

/// How much of what has gone out detectors may look back at.
const LOOK_BACK: usize = 16;

impl Stream {
    /// Takes a piece and gives what can go out.
    pub(crate) fn push(&mut self, cleaner: &Cleaner, piece: &str, found: &mut Found) -> String {
        let piece = self.skip_tail(piece);
        self.text.push_str(piece);
        let sure = self.look(cleaner, false);
        let mut clean = String::new();
        self.release(cleaner, sure, &mut clean, found);
        self.forget();
        clean
    }

    /// Gives all that is held back, because something else comes first. If the text goes on after all, the rest of a
    /// value that had begun before does not go out.
    pub(crate) fn flush(&mut self, cleaner: &Cleaner, found: &mut Found) -> String {
        if self.held() == 0 {
            return String::new();
        }
        self.look(cleaner, true);
        let mut clean = String::new();
        self.release(cleaner, self.text.len(), &mut clean, found);
        self.forget();
        clean
    }

    /// Bytes that are held back.
    pub(crate) fn held(&self) -> usize {
        self.text.len() - self.out
    }

    fn skip_tail<'a>(&mut self, piece: &'a str) -> &'a str {
        let Some(tail) = self.tail else { return piece };
        match piece.bytes().position(|byte| !tail(byte)) {
            None => "",
            Some(end) => {
                self.tail = None;
                piece.get(end..).unwrap_or_default()
            }
        }
    }

    /// Has each detector look at what is decided on, all of it at the `end`. Gives up to where all are sure.
    fn look(&mut self, cleaner: &Cleaner, end: bool) -> usize {
        self.from.resize(cleaner.detectors.len(), 0);
        let (text, before) = (&self.text, self.waiting.len());
        let mut sure = text.len();
        for (index, (detector, from)) in cleaner.detectors.iter().zip(&mut self.from).enumerate() {
            let undecided = detector.undecided(text, *from);
            let decided = if end { text.len() } else { undecided };
            detector.hits(text, *from, decided, |range| {
                *from = range.end;
                // A long value goes on behind what a sentence may end with as well: a dot, a question mark.
                let rest = text.as_bytes().get(range.end..).unwrap_or_default();
                let is_long = text.len() - range.start >= detector.longest;
                if !end
                    && let Some(tail) = detector.tail
                    && (rest.is_empty() || (is_long && rest.iter().all(|&byte| tail(byte))))
                {
                    self.tail = Some(tail);
                }
                self.waiting.push(Hit { range, detector: index });
            });
            // A beginning that was let go at a flush is still one, if the text goes on.
            *from = (*from).max(undecided);
            sure = sure.min(*from);
        }
        if self.waiting.len() > before {
            sort(&mut self.waiting);
        }
        sure
    }

    /// Sends what lies before `sure`, and whole values that begin there.
    fn release(&mut self, cleaner: &Cleaner, sure: usize, clean: &mut String, found: &mut Found) {
        let ready = self.waiting.partition_point(|hit| hit.range.start < sure);
        for hit in self.waiting.drain(..ready) {
            cleaner.replace(&hit, &self.text, &mut self.out, clean, found);
        }
        if let Some(rest) = self.text.get(self.out..sure) {
            clean.push_str(rest);
            self.out = sure;
        }
    }

    fn forget(&mut self) {
        let needed = self.from.iter().copied().min().unwrap_or_default().min(self.out);
        let gone = floor(&self.text, needed.saturating_sub(LOOK_BACK));
        if gone == 0 {
            return;
        }
        self.text.drain(..gone);
        self.out -= gone;
        self.from.iter_mut().for_each(|from| *from = from.saturating_sub(gone));
        for hit in &mut self.waiting {
            hit.range = hit.range.start.saturating_sub(gone)..hit.range.end.saturating_sub(gone);
        }
    }
}
