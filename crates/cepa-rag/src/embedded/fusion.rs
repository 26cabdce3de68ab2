//! Several orders become one, by rank (reciprocal rank fusion).

use std::collections::HashMap;

use super::best::{Best, Scored};
use crate::fusion::share_of;

/// How long the orders should be for so many hits: what is somewhere down both may come out on top.
pub(super) fn width(top_k: usize) -> usize {
    top_k.saturating_mul(10).max(100)
}

/// The best by all orders together.
pub(super) fn fused(orders: [Vec<Scored>; 2], top_k: usize) -> Vec<Scored> {
    let mut scores: HashMap<u32, f32> = HashMap::new();
    for order in orders {
        for (rank, Scored { row, .. }) in (1..).zip(order) {
            *scores.entry(row).or_default() += share_of(rank) as f32;
        }
    }
    let mut rows: Vec<_> = scores.into_iter().collect();
    rows.sort_unstable_by_key(|(row, _)| *row);
    let mut best = Best::new(top_k, None);
    for (row, score) in rows {
        if best.takes(score) {
            best.offer(Scored { score, row });
        }
    }
    best.into_sorted()
}
