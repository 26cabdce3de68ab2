//! Agents, and answers to their questions.

use std::{future::IntoFuture, time::Duration};

use cepa_core::{
    Agent, AgentBuilder, CancelToken, ConfirmResult, InjectionConfig, UserConfirmResultEvent,
    testing::{EventLog, ScriptedModel},
};

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

/// A person's yes to all that is asked.
pub(crate) fn yes(agent: &Agent) -> UserConfirmResultEvent {
    let waiting = agent.waiting_for().unwrap();
    UserConfirmResultEvent::new(
        waiting.reply_id,
        waiting.confirmations.into_iter().map(ConfirmResult::confirm),
    )
}

/// A token that is cancelled after a second.
pub(crate) fn cancelled_soon() -> CancelToken {
    let token = CancelToken::new();
    let later = token.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        later.cancel();
    });
    token
}

/// The last events of a log, by their types; custom ones by their names.
pub(crate) fn last(log: &EventLog, count: usize) -> Vec<String> {
    let shown: Vec<_> = log
        .to_string()
        .lines()
        .map(|line| line.split([' ', '{']).take(2).collect::<Vec<_>>().join(" "))
        .collect();
    shown[shown.len() - count..].to_vec()
}
