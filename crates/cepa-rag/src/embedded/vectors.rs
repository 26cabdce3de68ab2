//! [`Vectors`]: unit vectors in memory, searched whole at the speed at which memory can be read.

use pulp::Arch;

use super::{
    best::{Best, Scored},
    kernel::{Codes, Dots, Sum},
    quantised::Quantised,
};

/// Floats of a cache line, to which rows are padded.
const LINE: usize = 16;
/// Floats of a segment, about: 4 MiB.
const SEGMENT: usize = 1 << 20;

/// Unit vectors of one length, by row.
///
/// They lie in segments of some MiB, row by row: growing copies nothing.
#[derive(Debug)]
pub struct Vectors {
    dimensions: usize,
    /// Floats from one row to the next.
    stride: usize,
    rows_per_segment: usize,
    segments: Vec<Segment>,
    rows: usize,
    quantised: Option<Quantised>,
    arch: Arch,
}

/// Rows that begin at a cache line.
#[derive(Debug)]
struct Segment {
    floats: Vec<f32>,
    start: usize,
}

impl Vectors {
    /// None yet, of this length; with a quantised copy beside them, if it is asked for.
    pub fn new(dimensions: usize, is_quantised: bool) -> Self {
        let stride = dimensions.next_multiple_of(LINE);
        Self {
            dimensions,
            stride,
            rows_per_segment: (SEGMENT / stride).max(1),
            segments: Vec::new(),
            rows: 0,
            quantised: is_quantised.then(|| Quantised::new(dimensions)),
            arch: Arch::new(),
        }
    }

    /// How long each is.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Adds a unit vector as the next row.
    pub fn push(&mut self, vector: &[f32]) {
        let within = self.rows % self.rows_per_segment;
        if within == 0 {
            // The system gives pages of it only when they are written.
            let floats = vec![0.0; self.rows_per_segment * self.stride + LINE];
            let start = floats.as_ptr().align_offset(64).min(LINE);
            self.segments.push(Segment { floats, start });
        }
        if let Some(Segment { floats, start }) = self.segments.last_mut() {
            let at = *start + within * self.stride;
            floats[at..at + self.dimensions].copy_from_slice(vector);
        }
        if let Some(quantised) = &mut self.quantised {
            quantised.push(vector);
        }
        self.rows += 1;
    }

    /// A row as it was added.
    pub fn row(&self, row: u32) -> &[f32] {
        &self.padded(row)[..self.dimensions]
    }

    fn padded(&self, row: u32) -> &[f32] {
        let row = row as usize;
        let Segment { floats, start } = &self.segments[row / self.rows_per_segment];
        let at = start + row % self.rows_per_segment * self.stride;
        &floats[at..at + self.stride]
    }

    /// The rows of each segment that are there.
    fn parts(&self) -> impl Iterator<Item = &[f32]> {
        self.segments.iter().enumerate().map(|(number, Segment { floats, start })| {
            let rows = (self.rows - number * self.rows_per_segment).min(self.rows_per_segment);
            &floats[*start..start + rows * self.stride]
        })
    }

    /// The rows nearest to a unit vector among those that pass, which is asked only of rows that would be found.
    pub fn best(&self, query: &[f32], mut best: Best, mut passes: impl FnMut(u32) -> bool) -> Vec<Scored> {
        let mut padded = vec![0.0; self.stride];
        padded[..self.dimensions].copy_from_slice(query);
        let mut offer = |row: u32, score: f32| {
            let score = score.clamp(-1.0, 1.0);
            if best.takes(score) && passes(row) {
                best.offer(Scored { score, row });
            }
        };
        let mut first_row = 0;
        for rows in self.parts() {
            self.arch.dispatch(Dots { rows, query: &padded, first_row, visit: &mut offer });
            first_row += (rows.len() / self.stride) as u32;
        }
        best.into_sorted()
    }

    /// The same rows by way of their quantised copies, where there are some: less is read.
    ///
    /// A copy bounds the score of its row from both sides. Every row whose upper bound reaches the least of the best
    /// lower bounds is scored exactly: none is missed.
    pub fn best_quantised(
        &self,
        query: &[f32],
        mut best: Best,
        limit: usize,
        mut passes: impl FnMut(u32) -> bool,
    ) -> Vec<Scored> {
        let Some(quantised) = &self.quantised else { return self.best(query, best, passes) };
        let codes = quantised.query(query);
        let threshold = best.floor();
        let (mut lower_bounds, mut candidates) = (Best::new(limit, None), Vec::new());
        let mut visit = |row: u32, product: i32| {
            let (score, error) = quantised.bounds(row, product, &codes);
            let upper = score + error;
            if upper >= lower_bounds.floor() && upper > threshold && passes(row) {
                candidates.push(Scored { score: upper, row });
                if lower_bounds.takes(score - error) {
                    lower_bounds.offer(Scored { score: score - error, row });
                }
            }
        };
        let mut first_row = 0;
        for rows in quantised.parts() {
            self.arch.dispatch(Codes { rows, query: &codes.codes, first_row, visit: &mut visit });
            first_row += (rows.len() / codes.codes.len()) as u32;
        }
        let least = lower_bounds.floor();
        let mut padded = vec![0.0; self.stride];
        padded[..self.dimensions].copy_from_slice(query);
        for Scored { row, .. } in candidates.into_iter().filter(|candidate| candidate.score >= least) {
            let mut offer = |_, score: f32| {
                let score = score.clamp(-1.0, 1.0);
                if best.takes(score) {
                    best.offer(Scored { score, row });
                }
            };
            let dot = Dots { rows: self.padded(row), query: &padded, first_row: row, visit: &mut offer };
            self.arch.dispatch(dot);
        }
        best.into_sorted()
    }

    /// Reads every vector once and does next to nothing with it: what a search is measured by.
    pub fn sum(&self) -> f32 {
        self.parts().map(|rows| self.arch.dispatch(Sum { rows })).sum()
    }
}
