//! Finding the nearest of very many vectors, beside reading them once.

use std::hint::black_box;

use cepa_rag::embedded::{Best, Scored, Vectors, unit};

use crate::{
    Error, Figure, Goal, Report,
    chunking::chunk_mb_s,
    clock::cpu_ns,
    samples::{By, Samples},
};

const VECTORS: usize = 100_000;
const DIMENSIONS: usize = 384;
const QUERIES: usize = 8;
const TOP: usize = 5;
const ROUNDS: usize = 31;

/// Reads all vectors, searches them exactly, and with the quantised pass, in turns.
///
/// # Errors
/// Vectors that cannot be made.
pub fn run() -> Result<Report, Error> {
    let mut numbers = Numbers(42);
    let mut vectors = Vectors::new(DIMENSIONS, true);
    for _ in 0..VECTORS {
        vectors.push(&numbers.vector()?);
    }
    let queries: Vec<_> = (0..QUERIES).map(|_| numbers.vector()).collect::<Result<_, _>>()?;
    let exact = |query: &[f32]| vectors.best(query, Best::new(TOP, None), |_| true);
    let quantised = |query: &[f32]| vectors.best_quantised(query, Best::new(TOP, None), TOP, |_| true);

    let (mut read_ms, mut exact_ms, mut quantised_ms) =
        (Samples::default(), Samples::default(), Samples::default());
    let (mut to_read, mut to_exact) = (Samples::default(), Samples::default());
    for round in 0..=ROUNDS {
        let query = &queries[round % QUERIES];
        let (read, _) = cpu_ns(|| black_box(black_box(&vectors).sum()));
        let (searched, _) = cpu_ns(|| black_box(exact(query)));
        let (faster, _) = cpu_ns(|| black_box(quantised(query)));
        // The first round warms up.
        if round > 0 {
            read_ms.add(read / 1e6);
            exact_ms.add(searched / 1e6);
            quantised_ms.add(faster / 1e6);
            to_read.add(searched / read);
            to_exact.add(faster / searched);
        }
    }
    let rows = |found: Vec<Scored>| found.into_iter().map(|scored| scored.row).collect::<Vec<_>>();
    let found: usize = queries
        .iter()
        .map(|query| {
            let exact = rows(exact(query));
            rows(quantised(query)).iter().filter(|row| exact.contains(row)).count()
        })
        .sum();

    let timed = |name, samples: &Samples| Figure {
        name,
        goal: None,
        best: samples.by(By::Minimum),
        median: Some(samples.by(By::Median)),
    };
    // A ratio is the middle of those of all rounds: what disturbs one of the two disturbs the other, mostly.
    let ratio = |name, samples: &Samples, goal| Figure {
        name,
        goal: Some(goal),
        best: samples.by(By::Median),
        median: None,
    };
    let recall = found as f64 / (QUERIES * TOP) as f64;
    let figures = vec![
        chunk_mb_s(),
        timed("read_ms", &read_ms),
        timed("exact_ms", &exact_ms),
        ratio("ratio_to_read", &to_read, Goal::AtMost(1.3)),
        timed("quantised_ms", &quantised_ms),
        ratio("ratio_quantised", &to_exact, Goal::AtMost(0.4)),
        Figure { name: "quantised_recall", goal: Some(Goal::AtLeast(0.99)), best: recall, median: None },
    ];
    Ok(Report { name: "rag", figures })
}

/// Numbers from -1 to 1, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn vector(&mut self) -> Result<Vec<f32>, Error> {
        let mut next = || {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 40) as f32 / 8_388_608.0 - 1.0
        };
        unit(&(0..DIMENSIONS).map(|_| next()).collect::<Vec<_>>()).map_err(Into::into)
    }
}
