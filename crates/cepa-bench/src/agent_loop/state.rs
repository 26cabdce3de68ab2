//! Saving and loading a session of 200 messages.

use std::sync::Arc;

use cepa_core::{
    Agent, AgentState, Msg, OutputBlock, TextBlock, ToolCallBlock, ToolCallState, ToolResultBlock,
    ToolResultState,
};
use serde_json::json;

use super::{US, timed};
use crate::{Error, Figure, onion::Deltas};

const QUESTIONS: usize = 100;
const TIMES: usize = 300;

pub(super) fn measure() -> Result<Vec<Figure>, Error> {
    let state = session();
    let text = serde_json::to_string(&state)?;
    let definition = Agent::builder("agent").model(Deltas(1)).define()?;
    let mut agent = definition.load(&text)?;
    agent.save()?;
    let bytes = Figure { name: "state_bytes", goal: None, best: text.len() as f64, median: None };
    Ok(vec![
        bytes,
        timed("state_save_us", None, US, TIMES, || Ok(()), |()| Ok(serde_json::to_string(&state)?))?,
        timed("state_load_us", None, US, TIMES, || Ok(()), |()| Ok(definition.load(&text)?))?,
        timed(
            "state_resave_us",
            None,
            US,
            TIMES,
            || Ok(()),
            |()| {
                if let Some(last) = agent.state()?.context.last_mut() {
                    *last = Arc::new((**last).clone());
                }
                Ok(agent.save()?.len())
            },
        )?,
    ])
}

/// A hundred questions, each answered after a search: the same content as in the scripts for other frameworks.
fn session() -> AgentState {
    let mut state = AgentState::new();
    state.summary = "Earlier we discussed the plan.".into();
    for i in 0..QUESTIONS {
        let asked = "please look at the report and tell me what changed since last week. ".repeat(3);
        state.context.push(Arc::new(Msg::user("user", format!("Question {i}: {asked}"))));
        state.context.push(Arc::new(answer(i)));
    }
    let budget = json!({"spent": 12.5, "calls": 42, "per_model": {"a": 1, "b": 2}});
    state.middle_context.set("Budget".into(), budget);
    state
}

fn answer(i: usize) -> Msg {
    let (id, arguments) = (format!("call_{i}"), json!({"query": format!("report {i}"), "limit": 5}));
    let call = ToolCallBlock::new(id.as_str(), "search", arguments.to_string());
    let found = "Result line with some \"quoted\" text and a newline\n".repeat(8);
    let output = vec![OutputBlock::Text(TextBlock::new(found))];
    let summary = "the numbers moved by two percent, mostly due to the new region. ".repeat(4);
    let content = vec![
        TextBlock::new(format!("Let me check item {i}.")).into(),
        call.with_state(ToolCallState::Finished).into(),
        ToolResultBlock::new(id, "search", output, ToolResultState::Success).into(),
        TextBlock::new(format!("Summary: {summary}")).into(),
    ];
    Msg::assistant("agent", content)
}
