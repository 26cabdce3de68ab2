//! What these tests share.

use std::{fmt::Debug, future::IntoFuture, time::Duration};

use cepa_core::{
    Agent, AgentBuilder, AgentState, ConfirmResult, ContentBlock, InjectionConfig, ModelRequest, ReplyCall,
    ToolResultState, UserConfirmResultEvent, serde_json,
    testing::{EventLog, ScriptedModel},
};

/// An agent that is told nothing of time and tasks.
pub(crate) fn builder(model: &ScriptedModel) -> AgentBuilder {
    let mut injection = InjectionConfig::default();
    injection.inject_runtime_state = false;
    Agent::builder("Friday").model(model.clone()).injection_config(injection)
}

/// Fails the test where it would hang.
pub(crate) async fn within<T>(run: impl IntoFuture<Output = T>) -> T {
    match tokio::time::timeout(Duration::from_secs(3600), run).await {
        Ok(output) => output,
        Err(_) => panic!("hangs"),
    }
}

/// The events of a reply, and how it ended.
pub(crate) async fn log(call: ReplyCall<'_>) -> EventLog {
    within(EventLog::of(call)).await
}

/// Whether a server would take the request: each call has exactly one result, in its message or right after it, before
/// anybody else speaks. Arguments stay as the model wrote them; those that are no JSON object are mended by what writes
/// them for a server (`cepa-models`).
pub(crate) fn check_paired(request: &ModelRequest) -> Result<(), String> {
    let (mut open, mut seen) = (Vec::new(), Vec::new());
    for message in &request.messages {
        if message.role != cepa_core::Role::Assistant && !open.is_empty() {
            return Err(format!("somebody else speaks before the result of {open:?}"));
        }
        for block in &message.content {
            match block {
                ContentBlock::ToolCall(call) => {
                    if seen.contains(&&call.id) {
                        return Err(format!("two calls {}", call.id));
                    }
                    seen.push(&call.id);
                    open.push(&call.id);
                }
                ContentBlock::ToolResult(result) => {
                    let place = open.iter().position(|id| **id == result.id);
                    open.remove(place.ok_or_else(|| format!("{} has no call, or two results", result.id))?);
                }
                _ => {}
            }
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("no result of {open:?}")) }
}

/// Every request so far is one that servers take.
#[track_caller]
pub(crate) fn assert_paired(model: &ScriptedModel) {
    for (number, request) in model.requests().iter().enumerate() {
        if let Err(reason) = check_paired(request) {
            panic!("request {number}: {reason}");
        }
    }
}

/// The one result of a call in the context.
#[track_caller]
pub(crate) fn result(agent: &Agent, id: &str) -> (ToolResultState, String) {
    let state = agent.state().unwrap();
    let results: Vec<_> = state.context.iter().flat_map(|msg| msg.tool_results()).collect();
    let of_call: Vec<_> = results.into_iter().filter(|result| result.id == *id).collect();
    assert_eq!(of_call.len(), 1, "results of {id}: {of_call:?}");
    (of_call[0].state, of_call[0].output.text().into_owned())
}

/// The texts of the context, one message each.
pub(crate) fn said(agent: &Agent) -> Vec<String> {
    let state = agent.state().unwrap();
    state.context.iter().map(|msg| msg.text().unwrap_or_default()).collect()
}

/// The state as it is saved.
pub(crate) fn saved(agent: &Agent) -> String {
    serde_json::to_string(&*agent.state().unwrap()).unwrap()
}

/// A state that was saved.
pub(crate) fn read(saved: &str) -> AgentState {
    serde_json::from_str(saved).unwrap()
}

/// Yes to everything that is asked.
#[track_caller]
pub(crate) fn yes(agent: &Agent) -> UserConfirmResultEvent {
    let waiting = agent.waiting_for().unwrap();
    UserConfirmResultEvent::new(
        waiting.reply_id,
        waiting.confirmations.into_iter().map(ConfirmResult::confirm),
    )
}

/// The error that ended a reply.
#[track_caller]
pub(crate) fn failure<T: Debug>(outcome: Result<T, cepa_core::Error>) -> cepa_core::Error {
    match outcome {
        Err(error) => error,
        Ok(output) => panic!("it did not fail: {output:?}"),
    }
}
