//! An agent, its layers and a scripted model: what a user of the stream sees.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

#[path = "agent_basics/dropping.rs"]
mod dropping;
#[path = "agent_basics/ending.rs"]
mod ending;
#[path = "agent_basics/jumps.rs"]
mod jumps;
#[path = "agent_basics/looking_on.rs"]
mod looking_on;
#[path = "agent_basics/metering.rs"]
mod metering;
#[path = "agent_basics/order.rs"]
mod order;
#[path = "agent_basics/other_model.rs"]
mod other_model;
#[path = "agent_basics/testing.rs"]
mod testing;

use std::{future::IntoFuture, time::Duration};

use cepa_core::{Agent, AgentBuilder, AgentEvent, EventKind, InjectionConfig, testing::ScriptedModel};

/// An agent that is told nothing of time and tasks.
fn builder(model: &ScriptedModel) -> AgentBuilder {
    let mut injection = InjectionConfig::default();
    injection.inject_runtime_state = false;
    Agent::builder("Friday").model(model.clone()).injection_config(injection)
}

fn is_end(event: &AgentEvent) -> bool {
    matches!(event.kind, EventKind::ReplyEnd { .. })
}

/// Fails the test where it would hang.
async fn within<T>(run: impl IntoFuture<Output = T>) -> T {
    match tokio::time::timeout(Duration::from_secs(60), run).await {
        Ok(output) => output,
        Err(_) => panic!("hangs"),
    }
}
