//! [`Best`]: the best of many scored rows.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
};

/// A row with its score. The greater one is the better one; of equals it is the older.
#[derive(Clone, Copy, Debug)]
pub struct Scored {
    /// The score.
    pub score: f32,
    /// The row.
    pub row: u32,
}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.row.cmp(&self.row))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scored {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Scored {}

/// Keeps the best of what it is offered.
#[derive(Debug)]
pub struct Best {
    limit: usize,
    /// What a score has to be above.
    floor: f32,
    heap: BinaryHeap<Reverse<Scored>>,
}

impl Best {
    /// At most so many, none below the threshold.
    pub fn new(limit: usize, threshold: Option<f32>) -> Self {
        let floor = match (limit, threshold) {
            (0, _) => f32::INFINITY,
            (_, Some(threshold)) => threshold.next_down(),
            (_, None) => f32::NEG_INFINITY,
        };
        Self { limit, floor, heap: BinaryHeap::new() }
    }

    /// Whether this score would be among the best so far. Of equals the first stays, so rows come in their order, or
    /// nearly so.
    #[inline]
    pub fn takes(&self, score: f32) -> bool {
        score > self.floor
    }

    /// What a score has to be above to be among the best.
    pub fn floor(&self) -> f32 {
        self.floor
    }

    /// Takes a row that [`takes`](Self::takes) lets in.
    pub fn offer(&mut self, scored: Scored) {
        self.heap.push(Reverse(scored));
        if self.heap.len() > self.limit {
            self.heap.pop();
        }
        if self.heap.len() == self.limit
            && let Some(Reverse(worst)) = self.heap.peek()
        {
            self.floor = worst.score;
        }
    }

    /// The best first.
    pub fn into_sorted(self) -> Vec<Scored> {
        self.heap.into_sorted_vec().into_iter().map(|Reverse(scored)| scored).collect()
    }
}
