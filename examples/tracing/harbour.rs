//! The agent. Its models follow a script: which calls they make and what they say is written here.

use std::time::Duration;

use cepa::{
    ErrorType, ModelError,
    prelude::*,
    testing::{Answer, ScriptedModel},
    tracing::{Capture, TracingMiddleware},
};
use serde_json::json;

use crate::ferry::{book_ferry, sea_state, timetable};

/// The part that all agents of a program share. What belongs to one session is in its state.
pub(crate) fn clerk() -> Result<AgentDefinition, Box<dyn std::error::Error>> {
    let definition = Agent::builder("Harbour clerk")
        .system_prompt("You book ferries. Look at the timetable and at the sea first.")
        .model(large())
        .fallback_model(small())
        .model_retries(1)
        .tool(timetable)
        .tool(sea_state)
        .tool(book_ferry)
        .middleware(TracingMiddleware::new().capture(Capture::full()))
        .define()?;
    Ok(definition)
}

fn large() -> ScriptedModel {
    let there = json!({"to": "Hirtshals"});
    let booking = json!({"to": "Hirtshals", "at": "12:40"});
    let overloaded = || ModelError::new(ErrorType::Upstream, "503: the model is overloaded");
    ScriptedModel::new([
        thinks(80)
            .text("Let me look. ")
            .tool_call("timetable", there.clone())
            .tool_call("sea_state", there)
            .usage(210, 34),
        thinks(60).tool_call("book_ferry", booking).usage(275, 22),
        thinks(50).texts(["You are booked on the ", "12:40 ferry, ", "seat 14."]).usage(318, 15),
        Answer::new().delay(Duration::from_millis(15)).fails(overloaded()),
        Answer::new().delay(Duration::from_millis(15)).fails(overloaded()),
    ])
    .named("script-large")
}

fn small() -> ScriptedModel {
    let answer = thinks(30).texts(["Seat 14 is ", "at the window."]).usage(352, 9);
    ScriptedModel::new([answer]).named("script-small")
}

/// An answer that takes its time.
fn thinks(milliseconds: u64) -> Answer {
    Answer::new().delay(Duration::from_millis(milliseconds))
}
