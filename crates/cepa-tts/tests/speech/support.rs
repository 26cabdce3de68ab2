//! What these tests share.

use std::{future::IntoFuture, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use cepa_core::{
    Agent, AgentBuilder, AgentEvent, DataDelta, EventKind, InjectionConfig, Middleware,
    testing::{EventLog, ScriptedModel},
};

/// An agent that is told nothing of time and tasks.
pub(crate) fn builder(model: &ScriptedModel) -> AgentBuilder {
    let mut injection = InjectionConfig::default();
    injection.inject_runtime_state = false;
    Agent::builder("Friday").model(model.clone()).injection_config(injection)
}

/// An agent with one layer.
pub(crate) fn agent(model: &ScriptedModel, layer: impl Middleware) -> Agent {
    builder(model).middleware(layer).build().unwrap()
}

/// Fails the test where it would hang.
pub(crate) async fn within<T>(run: impl IntoFuture<Output = T>) -> T {
    match tokio::time::timeout(Duration::from_secs(3600), run).await {
        Ok(output) => output,
        Err(_) => panic!("hangs"),
    }
}

/// What a reply to "Go" sends.
pub(crate) async fn log(agent: &mut Agent) -> EventLog {
    within(EventLog::of(agent.reply("Go"))).await
}

/// What is in an event of audio: what the voice said.
pub(crate) fn audio(event: &AgentEvent) -> Option<String> {
    match &event.kind {
        EventKind::DataBlockDelta { delta: DataDelta::Base64(data), .. } => {
            Some(String::from_utf8(STANDARD.decode(data).unwrap()).unwrap())
        }
        _ => None,
    }
}

/// What was said, one text per audio block. Each block must have been ended before the next one begins, and before the
/// end of the reply.
#[track_caller]
pub(crate) fn heard(events: &[AgentEvent]) -> Vec<String> {
    let (mut heard, mut open) = (Vec::<String>::new(), None);
    for event in events {
        match &event.kind {
            EventKind::DataBlockStart { block_id, .. } => {
                assert_eq!(open.replace(block_id), None, "a block begins in another one");
                heard.push(String::new());
            }
            EventKind::DataBlockDelta { block_id, .. } => {
                assert_eq!(open, Some(block_id));
                heard.last_mut().unwrap().push_str(&audio(event).unwrap());
            }
            EventKind::DataBlockEnd { block_id, .. } => assert_eq!(open.take(), Some(block_id)),
            EventKind::ReplyEnd { .. } => assert_eq!(open, None, "the reply ends in a block"),
            _ => {}
        }
    }
    assert_eq!(open, None, "a block was not ended");
    heard
}
