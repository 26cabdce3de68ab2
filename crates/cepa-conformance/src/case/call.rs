//! What is done to the agent.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{LayerSpec, MessageSpec, OneOrMany};

/// One thing that is done to the agent.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum CallSpec {
    /// A reply to messages, or to nothing new.
    Reply {
        input: Option<OneOrMany<MessageSpec>>,
        #[serde(flatten)]
        options: ReplyOptions,
    },
    /// A person's answers.
    Confirm {
        results: Vec<ConfirmSpec>,
        reply_id: Option<String>,
        #[serde(flatten)]
        options: ReplyOptions,
    },
    /// Results from elsewhere.
    ExternalResult {
        results: Vec<Map<String, Value>>,
        reply_id: Option<String>,
        #[serde(flatten)]
        options: ReplyOptions,
    },
    /// A waiting reply is given up.
    Interrupt {
        reply_id: Option<String>,
        #[serde(flatten)]
        options: ReplyOptions,
    },
    /// Messages that ask for no reply.
    Observe { input: Option<OneOrMany<MessageSpec>> },
    /// The context is compressed.
    Compress { instructions: Option<String> },
    /// The state goes to JSON and into a new agent.
    Reload { middlewares: Option<Vec<LayerSpec>>, react_config: Option<Map<String, Value>> },
}

/// How a reply is read and ended.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ReplyOptions {
    pub(crate) structured_schema: Option<Value>,
    /// `reply`: without a stream.
    pub(crate) api: Option<String>,
    pub(crate) cancel_after: Option<CancelAfter>,
    /// Where the caller stops reading.
    pub(crate) stop_after_events: Option<StopAfter>,
    /// Waits after the call.
    #[serde(default)]
    pub(crate) settle_ms: u64,
}

impl ReplyOptions {
    pub(crate) fn is_streamed(&self) -> bool {
        self.api.as_deref() != Some("reply")
    }
}

/// The reply is cancelled a few milliseconds after the caller got this event.
#[derive(Debug, Deserialize)]
pub(crate) struct CancelAfter {
    pub(crate) event: String,
    #[serde(default = "one")]
    pub(crate) count: usize,
}

fn one() -> usize {
    1
}

/// The caller stops reading after so many events, or after one of a kind.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum StopAfter {
    Events(usize),
    Kind(CancelAfter),
}

/// A person's answer on one call.
#[derive(Debug, Deserialize)]
pub(crate) struct ConfirmSpec {
    pub(crate) tool_call_id: String,
    pub(crate) confirmed: bool,
    pub(crate) modify: Option<Modify>,
    pub(crate) rules: Option<RulesSpec>,
}

/// What a person changed in the call.
#[derive(Debug, Deserialize)]
pub(crate) struct Modify {
    pub(crate) name: Option<String>,
    pub(crate) input: Option<String>,
}

/// Rules for calls to come: `"suggested"`, or a list.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum RulesSpec {
    Named(String),
    Own(Vec<Value>),
}
