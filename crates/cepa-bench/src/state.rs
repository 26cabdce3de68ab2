//! What saving and loading a long session costs: 200 messages, with tool calls.

use std::{hint::black_box, sync::Arc};

use cepa_core::{
    Agent, AgentDefinition, AgentState, ContentBlock, MiddlewareKey, Msg, OutputBlock, TextBlock,
    ToolCallBlock, ToolCallState, ToolOutput, ToolResultBlock, ToolResultState, serde_json::json,
};

use crate::{
    Error, Figure, Report,
    clock::cpu_ns,
    onion::models::Deltas,
    samples::{By, Samples},
};

const EXCHANGES: usize = 100;
const TURNS: usize = 60;
/// Saves per sample: one alone is hardly longer than looking at the clock.
const SAVES: usize = 50;

/// Takes all the measurements. A second or two.
///
/// # Errors
/// A state that cannot be saved or loaded.
pub fn run() -> Result<Report, Error> {
    let definition = Agent::builder("agent").model(Deltas(1)).define()?;
    let mut agent = definition.agent_with(session());
    let text = agent.save()?.to_owned();

    let mut save = Samples::default();
    let mut load = Samples::default();
    let mut again = Samples::default();
    let mut changed = Samples::default();
    let mut appended = Samples::default();
    for _ in 0..TURNS {
        save.add(save_anew(&mut agent)?);
        load.add(load_once(&definition, &text)?);
        again.add(save_after(&mut agent, |_| ())?);
        changed.add(save_after(&mut agent, |state| {
            if let Some(last) = state.context.last_mut() {
                Arc::make_mut(last).name = "agent".into();
            }
        })?);
        // A session of its own, which grows.
        let mut growing = definition.load(&text)?;
        growing.save()?;
        appended.add(save_after(&mut growing, |state| state.context.push(Arc::new(question(0))))?);
    }
    let figure = |name, goal, samples: &Samples| {
        let us = |by| samples.by(by) / 1_000.0;
        Figure { name, goal, best: us(By::Minimum), median: Some(us(By::Median)) }
    };
    let bytes = Figure { name: "text_bytes", goal: None, best: text.len() as f64, median: None };
    let figures = vec![
        bytes,
        figure("save_us", None, &save),
        figure("load_us", None, &load),
        figure("resave_unchanged_us", Some(10.0), &again),
        figure("resave_changed_us", Some(10.0), &changed),
        figure("resave_appended_us", Some(10.0), &appended),
    ];
    Ok(Report { name: "state", figures })
}

/// Nanoseconds of saving with nothing kept from before.
fn save_anew(agent: &mut Agent) -> Result<f64, Error> {
    agent.forget_saved();
    let (ns, saved) = cpu_ns(|| agent.save().map(|text| _ = black_box(text)));
    saved?;
    Ok(ns)
}

fn load_once(definition: &AgentDefinition, text: &str) -> Result<f64, Error> {
    let (ns, loaded) = cpu_ns(|| definition.load(text));
    black_box(loaded?);
    Ok(ns)
}

/// Nanoseconds of a change and the save after it.
fn save_after(agent: &mut Agent, change: impl Fn(&mut AgentState)) -> Result<f64, Error> {
    let (ns, saved) = cpu_ns(|| -> cepa_core::Result<()> {
        for _ in 0..SAVES {
            change(&mut *agent.state()?);
            black_box(agent.save()?);
        }
        Ok(())
    });
    saved?;
    Ok(ns / SAVES as f64)
}

/// The session that the peers save and load too.
fn session() -> AgentState {
    let mut state = AgentState::new();
    state.summary = "Earlier we discussed the plan.".into();
    let spent = json!({"spent": 12.5, "calls": 42, "per_model": {"a": 1, "b": 2}});
    state.middle_context.set(MiddlewareKey::new("Budget"), spent);
    let messages = (0..EXCHANGES).flat_map(|n| [question(n), answer(n)]);
    state.context = messages.map(Arc::new).collect();
    state
}

fn question(n: usize) -> Msg {
    let text = "please look at the report and tell me what changed since last week. ".repeat(3);
    Msg::user("user", format!("Question {n}: {text}"))
}

fn answer(n: usize) -> Msg {
    let id = format!("call_{n}");
    let mut call = ToolCallBlock::new(
        id.as_str(),
        "search",
        json!({"query": format!("report {n}"), "limit": 5}).to_string(),
    );
    call.state = ToolCallState::Finished;
    let found = "Result line with some \"quoted\" text and a newline\n".repeat(8);
    let output = ToolOutput::Blocks(vec![OutputBlock::Text(TextBlock::new(found))]);
    let result = ToolResultBlock::new(id.as_str(), "search", output, ToolResultState::Success);
    let numbers = "the numbers moved by two percent, mostly due to the new region. ".repeat(4);
    let content: Vec<ContentBlock> = vec![
        TextBlock::new(format!("Let me check item {n}.")).into(),
        ContentBlock::ToolCall(call),
        ContentBlock::ToolResult(result),
        TextBlock::new(format!("Summary: {numbers}")).into(),
    ];
    Msg::assistant("agent", content)
}
