//! Deciding on a call among a thousand rules.

use cepa_core::{
    Agent, AgentDefinition, AgentState, PermissionBehavior, PermissionContext, PermissionMode,
    PermissionRule, ReactConfig,
};
use tokio::runtime::Builder;

use super::{US, timed};
use crate::{
    Error, Figure,
    onion::{Calls, instant},
};

const RULES: usize = 1_000;
const ROUNDS: usize = 50;
const TIMES: usize = 60;

/// What a call takes more than without rules.
pub(super) fn measure() -> Result<Vec<Figure>, Error> {
    let mut react = ReactConfig::default();
    react.max_iters = u32::try_from(10 * ROUNDS)?;
    let definition =
        Agent::builder("a").model(Calls::new(ROUNDS, 1)).tool(instant).react_config(react).define()?;
    let with = rounds(&definition, "permission_us", RULES)?;
    let without = rounds(&definition, "permission_us", 0)?;
    let median = with.median.zip(without.median).map(|(with, without)| with - without);
    Ok(vec![Figure { best: with.best - without.best, median, ..with }])
}

fn rounds(definition: &AgentDefinition, name: &'static str, rules: usize) -> Result<Figure, Error> {
    let runtime = Builder::new_current_thread().build()?;
    let agent = || {
        let mut state = AgentState::new();
        state.permission_context = context(rules);
        Ok(definition.agent_with(state))
    };
    timed(name, None, US * ROUNDS as f64, TIMES, agent, |mut agent| {
        Ok(runtime.block_on(async { agent.reply("hi").await })?)
    })
}

/// Rules of ten tools, of all three kinds, none of which is about the call.
fn context(rules: usize) -> PermissionContext {
    let mut context = PermissionContext::new(PermissionMode::default());
    let kinds = [PermissionBehavior::Allow, PermissionBehavior::Deny, PermissionBehavior::Ask];
    for number in 0..rules {
        let rule =
            PermissionRule::new(format!("tool{}", number % 10), kinds[number % kinds.len()], "userSettings");
        context.add_rule(rule.with_content(format!("path/number/{number}")));
    }
    context
}
