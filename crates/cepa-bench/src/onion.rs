//! What the onion costs: per event and layer, per hook call, per round of a tool call.

mod allocations;
mod events;
mod layers;
pub(crate) mod models;
mod rounds;

use std::hint::black_box;

use cepa_core::{Agent, AgentBuilder, AgentDefinition, BuildError, Middleware};
use tokio::runtime::{Builder, Runtime};

pub use self::allocations::count_allocations;
pub(crate) use self::{
    layers::AllHooks,
    models::{Calls, Deltas, instant},
};
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
    let mut figures = events::measure()?;
    figures.extend(rounds::measure()?);
    figures.extend(allocations::measure()?);
    Ok(Report { name: "onion", figures })
}

/// An agent with so many layers.
pub(crate) fn agent<L: Middleware>(
    agent: AgentBuilder,
    count: usize,
    layer: impl Fn() -> L,
) -> Result<AgentDefinition, BuildError> {
    let agent = agent.system_prompt("You are a helpful assistant.");
    (0..count).fold(agent, |agent, _| agent.middleware(layer())).define()
}

/// A reply that is read to its end, as often as one wants.
pub(crate) struct Work {
    runtime: Runtime,
    definition: AgentDefinition,
}

impl Work {
    pub(crate) fn new(definition: AgentDefinition) -> Result<Self, Error> {
        // Time is for what only interrupts need; nothing here waits for anything.
        Ok(Self { runtime: Builder::new_current_thread().build()?, definition })
    }

    /// The same for layers that look at the clock.
    pub(crate) fn with_time(definition: AgentDefinition) -> Result<Self, Error> {
        Ok(Self { runtime: Builder::new_current_thread().enable_time().build()?, definition })
    }

    pub(crate) fn definition(&self) -> &AgentDefinition {
        &self.definition
    }

    /// How many events there are in a reply of a new session.
    fn events(&self) -> Result<usize, Error> {
        self.read(&mut self.definition.agent())
    }

    pub(crate) fn read(&self, agent: &mut Agent) -> Result<usize, Error> {
        self.runtime.block_on(async {
            let mut events = agent.reply("hi").stream();
            let mut count = 0;
            while let Some(event) = events.next().await {
                black_box(&event);
                count += 1;
            }
            events.finish().await?;
            Ok(count)
        })
    }

    /// Nanoseconds of one reply of a new session; making and dropping the session is left out.
    fn ns(&self, replies: usize) -> Result<f64, Error> {
        let mut agents: Vec<Agent> = (0..replies).map(|_| self.definition.agent()).collect();
        let (ns, result) = cpu_ns(|| agents.iter_mut().try_for_each(|agent| self.read(agent).map(drop)));
        result?;
        Ok(ns / replies as f64)
    }
}

/// Measures several kinds of work by turns; each sample is the mean of so many replies.
pub(crate) fn by_turns(works: &[Work], turns: usize, replies: usize) -> Result<Vec<Samples>, Error> {
    let mut all: Vec<Samples> = works.iter().map(|_| Samples::default()).collect();
    for turn in 0..=turns {
        for (work, samples) in works.iter().zip(&mut all) {
            let ns = work.ns(replies)?;
            // The first turn warms up.
            if turn > 0 {
                samples.add(ns);
            }
        }
    }
    Ok(all)
}

/// A figure that is made of samples in either way.
pub(crate) fn figure(name: &'static str, goal: Option<f64>, made: impl Fn(By) -> f64) -> Figure {
    let goal = goal.map(Goal::AtMost);
    Figure { name, goal, best: made(By::Minimum), median: Some(made(By::Median)) }
}
