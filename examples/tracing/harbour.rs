//! The agent. Its models follow a script: which calls they make and what they say is written here.

use std::time::Duration;

use cepa::{
    ErrorType, ModelError,
    prelude::*,
    testing::{Answer, ScriptedModel},
    tracing::{Capture, Price, Prices, TimingMiddleware, TracingMiddleware, UsageMiddleware},
};
use serde_json::json;

use crate::ferry::{book_ferry, sea_state, timetable};

/// The part that all agents of a program share. What belongs to one session is in its state.
pub(crate) fn clerk() -> Result<AgentDefinition, Box<dyn std::error::Error>> {
    let prices = Prices::builder("USD")
        .model("script-large", Price::new(2.0, 8.0))
        .model("script-small", Price::new(0.4, 1.6));
    let definition = Agent::builder("Harbour clerk")
        .system_prompt("You book ferries. Look at the timetable and at the sea first.")
        .model(large())
        .fallback_model(small())
        .model_retries(1)
        .tool(timetable)
        .tool(sea_state)
        .tool(book_ferry)
        .middleware(TracingMiddleware::new().capture(Capture::full()))
        .middleware(TimingMiddleware::new())
        .middleware(UsageMiddleware::new().prices(prices.build()?))
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
        says(["You are booked on the ", "12:40 ferry, ", "seat 14."]).usage(318, 15),
        Answer::new().delay(Duration::from_millis(15)).fails(overloaded()),
        Answer::new().delay(Duration::from_millis(15)).fails(overloaded()),
    ])
    .named("script-large")
}

fn small() -> ScriptedModel {
    let answer = says(["Seat 14 is ", "at the window."]).usage(352, 9);
    ScriptedModel::new([answer]).named("script-small")
}

/// An answer that takes its time.
fn thinks(milliseconds: u64) -> Answer {
    Answer::new().delay(Duration::from_millis(milliseconds))
}

/// A text, piece by piece.
fn says(texts: impl IntoIterator<Item = &'static str>) -> Answer {
    let pause = Duration::from_millis(25);
    texts.into_iter().fold(thinks(30), |answer, text| answer.text(text).delay(pause))
}
