//! Trees for tests.

use std::time::{Duration, SystemTime};

use cepa_core::serde_json::Value;

use super::{
    Node, Tree,
    tree::{Event, Fields},
};
use crate::names;

impl Tree {
    /// A tree of these spans, begun at 2026-01-02 03:04:05 UTC.
    pub(crate) fn scripted(spans: impl IntoIterator<Item = Node>) -> Self {
        let mut tree = Self::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_323_045));
        tree.spans.extend(spans);
        tree
    }
}

impl Node {
    /// A span inside of another one, from one millisecond to another.
    pub(crate) fn scripted(parent: impl Into<Option<usize>>, name: &str, start: u64, end: u64) -> Self {
        let mut fields = Fields::default();
        let operation = name.split(' ').next().unwrap_or_default();
        if ["invoke_agent", "chat", "execute_tool"].contains(&operation) {
            fields.set(names::OPERATION_NAME, operation.into());
        }
        Self {
            parent: parent.into(),
            name: name.to_owned(),
            target: "cepa_tracing",
            start: Duration::from_millis(start),
            end: Some(Duration::from_millis(end)),
            fields,
            events: Vec::new(),
        }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.fields.set(name, value.into());
        self
    }

    pub(crate) fn ok(self) -> Self {
        self.with("otel.status_code", "OK")
    }

    pub(crate) fn failed(self, kind: &str, description: &str) -> Self {
        let failed = self.with("otel.status_code", "ERROR").with("otel.status_description", description);
        failed.with(names::ERROR_TYPE, kind)
    }

    pub(crate) fn used(self, sent: u64, written: u64) -> Self {
        self.with(names::INPUT_TOKENS, sent).with(names::OUTPUT_TOKENS, written)
    }

    pub(crate) fn says(mut self, target: &'static str, name: &'static str, value: &str) -> Self {
        let fields = Fields(vec![(name, value.into())]);
        self.events.push(Event { at: self.start, level: tracing::Level::INFO, target, fields });
        self
    }
}

/// A question, a tool that fails, and an answer.
pub(crate) fn weather() -> Tree {
    Tree::scripted([
        Node::scripted(None, "invoke_agent Friday", 0, 2410).ok().used(732, 24),
        Node::scripted(0, "chat gpt-5", 4, 815).ok().used(612, 20).with(names::TIME_TO_FIRST_CHUNK, 0.34),
        Node::scripted(0, "execute_tool weather", 818, 1620).failed("tool_error", "no station near"),
        Node::scripted(2, "GET /v1/stations", 830, 1610),
        Node::scripted(0, "chat gpt-5", 1622, 2408).ok().used(120, 4).with(names::TIME_TO_FIRST_CHUNK, 0.21),
    ])
}
