//! Many rounds of one tool call that takes no time, with and without layers.

use cepa_core::{Agent, ContentBlock, ReactConfig, ToolResultState};

use super::{
    Work, agent, by_turns, figure,
    layers::AllHooks,
    models::{Calls, instant},
};
use crate::{Error, Figure};

const ROUNDS: usize = 50;
/// Enough to show whether a round costs more in a longer context.
const MANY_ROUNDS: usize = 400;
const TURNS: usize = 120;

fn work(rounds: usize, layers: usize) -> Result<Work, Error> {
    let mut react = ReactConfig::default();
    react.max_iters = u32::try_from(10 * rounds)?;
    let builder = Agent::builder("a").model(Calls::new(rounds, 1)).tool(instant).react_config(react);
    Work::new(agent(builder, layers, || AllHooks)?)
}

pub(super) fn measure() -> Result<Vec<Figure>, Error> {
    let works = [work(ROUNDS, 0)?, work(ROUNDS, 6)?, work(MANY_ROUNDS, 0)?];
    for work in &works {
        // A call that is refused or fails would be faster than one that runs.
        work.check_results()?;
    }
    let samples = by_turns(&works, TURNS, 1)?;
    let per_round = |at: usize, rounds: usize, name, goal| {
        figure(name, goal, |by| samples[at].by(by) / 1_000.0 / rounds as f64)
    };
    Ok(vec![
        per_round(0, ROUNDS, "round_us_0", Some(5.0)),
        per_round(1, ROUNDS, "round_us_6", Some(9.0)),
        per_round(2, MANY_ROUNDS, "round_us_0_at_400", None),
    ])
}

impl Work {
    fn check_results(&self) -> Result<(), Error> {
        let mut agent = self.definition.agent();
        self.read(&mut agent)?;
        let state = agent.state()?;
        let results = state.context.iter().flat_map(|msg| msg.content.iter());
        let failed = results
            .filter_map(|block| match block {
                ContentBlock::ToolResult(result) => Some(result),
                _ => None,
            })
            .find(|result| result.state != ToolResultState::Success);
        match failed {
            None => Ok(()),
            Some(result) => Err(format!("a tool call did not succeed: {result:?}").into()),
        }
    }
}
