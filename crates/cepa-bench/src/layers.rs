//! What each layer of production costs when it has nothing to do: per call that it wraps, and per event that passes.
//!
//! Another layer is one line in [`table`].

mod table;

use std::path::Path;

use cepa_core::{Agent, AgentBuilder, ReactConfig};

use self::table::{ROWS, Row};
use crate::{
    Error, Figure, Report,
    onion::{Calls, Deltas, Work, agent, by_turns, figure, instant},
    samples::{By, Samples},
};

/// Model calls of a reply, all but one with a call of a tool.
const CALLS: usize = 20;
/// Pieces of text of a long answer, and of a short one.
const LONG: usize = 1_000;
const SHORT: usize = 1;
const TURNS: usize = 60;
/// Enough replies for one sample that a difference of nanoseconds shows.
const REPLIES: usize = 4;

/// Takes all the measurements. About a minute.
///
/// # Errors
/// A layer or an agent that cannot be built, and a reply that fails.
pub fn run() -> Result<Report, Error> {
    let folder = tempfile::tempdir()?;
    // Without a layer first, then with each.
    let mut works = works(Ok)?;
    for row in ROWS {
        works.extend(self::works(|agent| (row.add)(agent, folder.path()))?);
    }
    let samples = by_turns(&works, TURNS, REPLIES)?;
    let (without, with) = samples.split_at(WORKS);
    let figures = ROWS.iter().zip(with.chunks(WORKS)).flat_map(|(row, with)| figures(row, with, without));
    Ok(Report { name: "layers", figures: figures.collect() })
}

/// Kinds of replies: many calls, one long answer, one short answer.
const WORKS: usize = 3;

fn works(add: impl Fn(AgentBuilder) -> Result<AgentBuilder, Error>) -> Result<Vec<Work>, Error> {
    let mut react = ReactConfig::default();
    react.max_iters = u32::try_from(10 * CALLS)?;
    let calls = Agent::builder("a").model(Calls::new(CALLS - 1, 1)).tool(instant).react_config(react);
    let answer = |deltas| Agent::builder("a").model(Deltas(deltas));
    [calls, answer(LONG), answer(SHORT)]
        .into_iter()
        .map(|builder| Work::with_time(agent(add(builder)?, 0, || crate::onion::AllHooks)?))
        .collect()
}

fn figures(row: &Row, with: &[Samples], without: &[Samples]) -> [Figure; 2] {
    let more = |work: usize, by: By| with[work].by(by) - without[work].by(by);
    [
        figure(row.call, None, |by| more(0, by) / CALLS as f64),
        // What the call costs is in both answers.
        figure(row.event, None, |by| (more(1, by) - more(2, by)) / (LONG - SHORT) as f64),
    ]
}

/// Adds a layer to an agent; files go into the folder.
type Add = fn(AgentBuilder, &Path) -> Result<AgentBuilder, Error>;
