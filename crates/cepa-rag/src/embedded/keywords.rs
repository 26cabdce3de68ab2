//! [`Keywords`]: which rows hold which words, and how well they fit a query (BM25).
//!
//! Own code, because neither library fits beside a log that is the only truth: `bm25` keeps the average length it was
//! made with and makes Latin letters of Chinese ones, and `tantivy` brings files, threads and commits of its own.

use std::collections::HashMap;

use super::{
    best::{Best, Scored},
    words::words,
};

/// How soon more of the same word stops to matter.
const K1: f32 = 1.2;
/// How much the length of a text matters.
const B: f32 = 0.75;

/// An index of the words of rows.
#[derive(Debug, Default)]
pub(super) struct Keywords {
    words: HashMap<String, Vec<Posting>>,
    /// How many words each row has; none for one without text, and for one that is deleted.
    lengths: Vec<u32>,
    /// How many rows have words.
    rows: usize,
    /// How many words they have together.
    length: u64,
}

#[derive(Clone, Copy, Debug)]
struct Posting {
    row: u32,
    count: u32,
}

impl Keywords {
    /// Adds the next row.
    pub(super) fn push(&mut self, words: HashMap<String, u32>) {
        let (row, length) = (self.lengths.len() as u32, words.values().sum());
        for (word, count) in words {
            self.words.entry(word).or_default().push(Posting { row, count });
        }
        self.lengths.push(length);
        self.rows += usize::from(length > 0);
        self.length += u64::from(length);
    }

    /// Forgets a row. It stays in the lists of words until they are made anew.
    pub(super) fn remove(&mut self, row: u32) {
        let length = std::mem::take(&mut self.lengths[row as usize]);
        self.rows -= usize::from(length > 0);
        self.length -= u64::from(length);
    }

    /// The rows that fit these words best among those that pass, which is asked only of rows that would be found.
    pub(super) fn best(
        &self,
        text: &str,
        mut best: Best,
        mut passes: impl FnMut(u32) -> bool,
    ) -> Vec<Scored> {
        let mean_length = self.length as f32 / self.rows.max(1) as f32;
        let mut scores = vec![0.0_f32; self.lengths.len()];
        let mut sought: Vec<String> = words(text).into_keys().collect();
        // The order of sums shows in their last bits.
        sought.sort_unstable();
        for postings in sought.iter().filter_map(|word| self.words.get(word)) {
            let there = || postings.iter().filter(|posting| self.lengths[posting.row as usize] > 0);
            let with = there().count() as f32;
            let rarity = (1.0 + (self.rows as f32 - with + 0.5) / (with + 0.5)).ln();
            for posting in there() {
                let (count, length) = (posting.count as f32, self.lengths[posting.row as usize] as f32);
                let room = K1 * (1.0 - B + B * length / mean_length);
                scores[posting.row as usize] += rarity * count * (K1 + 1.0) / (count + room);
            }
        }
        for (row, score) in (0..).zip(scores) {
            if score > 0.0 && best.takes(score) && passes(row) {
                best.offer(Scored { score, row });
            }
        }
        best.into_sorted()
    }
}
