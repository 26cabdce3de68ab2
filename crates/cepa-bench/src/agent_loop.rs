//! What sessions cost: saving and loading them, keeping many of them waiting, permissions, compression.

mod compress;
mod heap;
mod permission;
mod state;
mod waiting;

pub use self::heap::measure_heap;
use crate::{
    Error, Figure, Goal, Report,
    clock::cpu_ns,
    samples::{By, Samples},
};

/// Takes all the measurements. About half a minute.
///
/// # Errors
/// An agent that cannot be built or whose reply fails, and a program for counting that is not there.
pub fn run() -> Result<Report, Error> {
    let mut figures = state::measure()?;
    figures.extend(waiting::measure()?);
    figures.extend(heap::measure()?);
    figures.extend(permission::measure()?);
    figures.extend(compress::measure()?);
    Ok(Report { name: "loop", figures })
}

/// Times this work so often; what it needs is made beforehand, each time. In nanoseconds, divided by `unit`.
fn timed<T, R>(
    name: &'static str,
    goal: Option<f64>,
    unit: f64,
    times: usize,
    mut make: impl FnMut() -> Result<T, Error>,
    mut work: impl FnMut(T) -> Result<R, Error>,
) -> Result<Figure, Error> {
    let mut samples = Samples::default();
    for _ in 0..times {
        let needed = make()?;
        let (ns, result) = cpu_ns(|| work(needed));
        result?;
        samples.add(ns / unit);
    }
    let goal = goal.map(Goal::AtMost);
    Ok(Figure { name, goal, best: samples.by(By::Minimum), median: Some(samples.by(By::Median)) })
}

/// Nanoseconds in a microsecond and in a millisecond.
const US: f64 = 1e3;
const MS: f64 = 1e6;
