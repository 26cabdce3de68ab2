//! A reply as a tree of spans.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use cepa_core::serde_json::{self, Value};
use tracing::Level;

use crate::names;

/// The spans of a reply, the reply's own first, each behind the one it is in.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) began: SystemTime,
    pub(crate) spans: Vec<Node>,
    /// Spans that were too many.
    pub(crate) spans_left_out: usize,
    /// Events that were too many.
    pub(crate) events_left_out: usize,
}

/// A span. Times are counted from the reply's beginning.
#[derive(Debug)]
pub(crate) struct Node {
    /// Where in the tree the span is that it is in.
    pub(crate) parent: Option<usize>,
    pub(crate) name: String,
    pub(crate) target: &'static str,
    pub(crate) start: Duration,
    /// `None` while it is open.
    pub(crate) end: Option<Duration>,
    pub(crate) fields: Fields,
    pub(crate) events: Vec<Event>,
}

/// Something that was said inside of a span.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) at: Duration,
    pub(crate) level: Level,
    pub(crate) target: &'static str,
    pub(crate) fields: Fields,
}

/// Named values, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Fields(pub(crate) Vec<(&'static str, Value)>);

/// What a span stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Agent,
    Chat,
    Tool,
    Other,
}

/// How a span ended.
#[derive(Debug, PartialEq)]
pub(crate) enum Status<'a> {
    /// Nobody said.
    Unset,
    Ok,
    Error {
        kind: &'a str,
        description: Option<&'a str>,
    },
    /// The tools that a person or another place is asked for.
    Waiting(Vec<String>),
    Cancelled,
}

/// A span at its place on the page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    /// Its place in the tree.
    pub(crate) at: usize,
    pub(crate) depth: usize,
    pub(crate) node: &'a Node,
    pub(crate) end: Duration,
}

impl Tree {
    pub(crate) fn new(began: SystemTime) -> Self {
        Self { began, spans: Vec::new(), spans_left_out: 0, events_left_out: 0 }
    }

    /// How long it took, with all that is inside.
    pub(crate) fn duration(&self) -> Duration {
        self.spans.iter().map(|node| node.end.unwrap_or(node.start)).max().unwrap_or_default()
    }

    /// Each span, followed by those inside of it, as they began.
    pub(crate) fn rows(&self) -> Vec<Row<'_>> {
        let mut inside = vec![Vec::new(); self.spans.len()];
        for (at, node) in self.spans.iter().enumerate() {
            if let Some(children) = node.parent.and_then(|parent| inside.get_mut(parent)) {
                children.push(at);
            }
        }
        let whole = self.duration();
        let mut rows = Vec::with_capacity(self.spans.len());
        let mut next = vec![(0, 0)];
        while let Some((at, depth)) = next.pop() {
            let Some(node) = self.spans.get(at) else { continue };
            rows.push(Row { at, depth, node, end: node.end.unwrap_or(whole) });
            next.extend(inside[at].iter().rev().map(|at| (*at, depth + 1)));
        }
        rows
    }

    /// The innermost agent around a span, or the span itself where it is an agent.
    pub(crate) fn agent_of(&self, mut at: usize) -> usize {
        while let Some(node) = self.spans.get(at) {
            match node.parent {
                Some(parent) if node.kind() != Kind::Agent => at = parent,
                _ => break,
            }
        }
        at
    }
}

impl Row<'_> {
    pub(crate) fn duration(&self) -> Duration {
        self.end.saturating_sub(self.node.start)
    }
}

impl Node {
    pub(crate) fn kind(&self) -> Kind {
        match self.fields.text(names::OPERATION_NAME) {
            Some("invoke_agent") => Kind::Agent,
            Some("chat") => Kind::Chat,
            Some("execute_tool") => Kind::Tool,
            _ => Kind::Other,
        }
    }

    pub(crate) fn status(&self) -> Status<'_> {
        let waiting = [names::HITL_PENDING_TOOLS, names::EXTERNAL_EXECUTION_PENDING_TOOLS];
        let waiting: Vec<String> = waiting
            .iter()
            .filter_map(|name| serde_json::from_str::<Vec<String>>(self.fields.text(name)?).ok())
            .flatten()
            .collect();
        match self.fields.text("otel.status_code") {
            Some("ERROR") => Status::Error {
                kind: self.fields.text(names::ERROR_TYPE).unwrap_or("error"),
                description: self.fields.text("otel.status_description").filter(|text| !text.is_empty()),
            },
            // Before the other: who asks a person may well leave with the question.
            _ if !waiting.is_empty() => Status::Waiting(waiting),
            _ if self.fields.get(names::CANCELLED) == Some(&Value::Bool(true)) => Status::Cancelled,
            Some("OK") => Status::Ok,
            _ => Status::Unset,
        }
    }

    /// Tokens sent and written.
    pub(crate) fn tokens(&self) -> Option<(u64, u64)> {
        let tokens = |name| self.fields.get(name).and_then(Value::as_u64);
        match (tokens(names::INPUT_TOKENS), tokens(names::OUTPUT_TOKENS)) {
            (None, None) => None,
            (sent, written) => Some((sent.unwrap_or(0), written.unwrap_or(0))),
        }
    }

    /// How long it took until the first piece of the answer.
    pub(crate) fn first_chunk(&self) -> Option<Duration> {
        let seconds = self.fields.get(names::TIME_TO_FIRST_CHUNK)?.as_f64()?;
        Duration::try_from_secs_f64(seconds).ok()
    }
}

impl Fields {
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    pub(crate) fn set(&mut self, name: &'static str, value: Value) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => self.0.push((name, value)),
        }
    }
}

impl fmt::Display for Status<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset => Ok(()),
            Self::Ok => f.write_str("ok"),
            Self::Error { kind, .. } => write!(f, "ERROR {kind}"),
            Self::Waiting(tools) => write!(f, "waiting for {}", tools.join(", ")),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}
