//! Agents, answers to their questions, and what was logged meanwhile.

use std::{
    fmt,
    future::IntoFuture,
    sync::{Arc, Mutex},
    time::Duration,
};

use cepa_core::{
    Agent, AgentBuilder, CancelToken, ConfirmResult, InjectionConfig, UserConfirmResultEvent,
    testing::{EventLog, ScriptedModel},
};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
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

/// The fields of what is logged under this target, as they would be printed.
#[derive(Clone, Default)]
pub(crate) struct Logged {
    target: &'static str,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Logged {
    pub(crate) fn of(target: &'static str) -> Self {
        Self { target, lines: Arc::default() }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

impl Subscriber for Logged {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == self.target
    }
    fn new_span(&self, _span: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _span: &span::Id, _values: &span::Record<'_>) {}
    fn record_follows_from(&self, _span: &span::Id, _follows: &span::Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.lines.lock().unwrap().push(line.0);
    }
    fn enter(&self, _span: &span::Id) {}
    fn exit(&self, _span: &span::Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.push_str(&format!("{}={value:?};", field.name()));
    }
}
