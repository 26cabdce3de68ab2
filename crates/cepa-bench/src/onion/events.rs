//! One reply that streams many pieces of text, through ever more layers.

use cepa_core::{Agent, AgentDefinition, BuildError, Middleware};

use super::{
    Work, agent, by_turns, figure,
    layers::{Run, Stream, Tap, TapShared},
    models::Deltas,
};
use crate::{
    Error, Figure,
    samples::{By, Samples, slope},
};

const DELTAS: usize = 1_000;
/// How many layers. The slope over these leaves out what a reply costs anyway.
const LAYERS: [usize; 6] = [0, 1, 2, 4, 8, 16];
const TURNS: usize = 120;

/// An agent around a model that streams so many pieces of text.
pub(super) fn streaming<L: Middleware>(
    deltas: usize,
    layers: usize,
    layer: fn() -> L,
) -> Result<AgentDefinition, BuildError> {
    agent(Agent::builder("a").model(Deltas(deltas)), layers, layer)
}

/// The same reply with each number of layers.
fn works<L: Middleware>(deltas: usize, layer: fn() -> L) -> Result<Vec<Work>, Error> {
    LAYERS.iter().map(|&count| Work::new(streaming(deltas, count, layer)?)).collect()
}

pub(super) fn measure() -> Result<Vec<Figure>, Error> {
    let kinds: [(_, _, Vec<Work>); 4] = [
        ("run_ns", 4.0, works(DELTAS, || Run)?),
        ("tap_shared_ns", 6.0, works(DELTAS, || TapShared)?),
        ("tap_ns", 15.0, works(DELTAS, || Tap)?),
        ("stream_ns", 20.0, works(DELTAS, || Stream)?),
    ];
    let events = kinds[0].2[0].events()? as f64;
    let mut named = Vec::new();
    let mut all = Vec::new();
    for (name, goal, works) in kinds {
        named.push((name, goal));
        all.extend(works);
    }
    let samples = by_turns(&all, TURNS, 1)?;
    let mut figures: Vec<Figure> = named
        .into_iter()
        .zip(samples.chunks(LAYERS.len()))
        .map(|((name, goal), samples)| figure(name, Some(goal), |by| per_layer(samples, by) / events))
        .collect();
    figures.push(figure("base_ns", Some(150.0), |by| samples[0].by(by) / events));

    // With next to no events, what grows with the layers is the call of the hook. The few that pass are taken off.
    let works = works(1, || Run)?;
    let few = works[0].events()? as f64;
    let calls = by_turns(&works, TURNS, 20)?;
    figures.push(figure("call_ns", Some(60.0), |by| {
        let run = per_layer(&samples[..LAYERS.len()], by) / events;
        per_layer(&calls, by) - few * run
    }));
    Ok(figures)
}

/// What one layer more adds to a reply.
fn per_layer(samples: &[Samples], by: By) -> f64 {
    slope(LAYERS.iter().zip(samples).map(|(&count, samples)| (count as f64, samples.by(by))))
}
