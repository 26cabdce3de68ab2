//! Agents, servers and the log.

use std::{
    fmt,
    future::IntoFuture,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::Router;
use cepa_core::{
    Agent, AgentBuilder, ContentBlock, InjectionConfig, IntoShared, Middleware, TextOrBlocks,
    testing::ScriptedModel,
};
use tokio::net::TcpListener;
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

/// An agent with this memory.
pub(crate) fn agent(model: &ScriptedModel, memory: impl IntoShared<dyn Middleware>) -> AgentBuilder {
    let mut injection = InjectionConfig::default();
    injection.inject_runtime_state = false;
    Agent::builder("Friday").model(model.clone()).injection_config(injection).middleware(memory)
}

/// Fails the test where it would hang.
pub(crate) async fn within<T>(run: impl IntoFuture<Output = T>) -> T {
    match tokio::time::timeout(Duration::from_secs(3600), run).await {
        Ok(output) => output,
        Err(_) => panic!("hangs"),
    }
}

/// The hints in the last request.
pub(crate) fn hints(model: &ScriptedModel) -> Vec<String> {
    let requests = model.requests();
    let blocks = requests.last().unwrap().messages.iter().flat_map(|msg| msg.content.clone());
    blocks
        .filter_map(|block| match block {
            ContentBlock::Hint(hint) => match hint.hint {
                TextOrBlocks::Text(text) => Some(text),
                TextOrBlocks::Blocks(_) => None,
            },
            _ => None,
        })
        .collect()
}

/// Serves on loopback and returns the URL.
pub(crate) async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

/// The warnings of the crate, in the thread of the test.
#[derive(Clone, Default)]
pub(crate) struct Warnings(Arc<Mutex<Vec<String>>>);

impl Warnings {
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("cepa_memory") && *metadata.level() <= Level::WARN
    }
    fn new_span(&self, _span: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _span: &span::Id, _values: &span::Record<'_>) {}
    fn record_follows_from(&self, _span: &span::Id, _follows: &span::Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
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
