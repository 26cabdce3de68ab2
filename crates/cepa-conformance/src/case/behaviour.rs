//! Scripted tools.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::DataSpec;

/// A tool and what it does.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ToolSpec {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) input_schema: Option<Value>,
    pub(crate) concurrency_safe: Option<bool>,
    #[serde(default)]
    pub(crate) read_only: bool,
    #[serde(default)]
    pub(crate) external: bool,
    pub(crate) metadata_schema: Option<Value>,
    /// The answer of the tool's own check.
    pub(crate) permission: Option<String>,
    #[serde(default)]
    pub(crate) tool_middlewares: Vec<ToolLayerSpec>,
    /// What each run does; the last one is repeated.
    pub(crate) behaviour: Option<OneOrMany<BehaviourSpec>>,
}

/// A layer around one tool that writes the trace.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ToolLayerSpec {
    pub(crate) label: String,
}

/// What one run of a tool does.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct BehaviourSpec {
    pub(crate) kind: String,
    pub(crate) text: Option<String>,
    pub(crate) message: Option<String>,
    #[serde(default)]
    pub(crate) times: usize,
    pub(crate) value: Option<Value>,
    #[serde(default)]
    pub(crate) chunks: Vec<ToolChunkSpec>,
    #[serde(default)]
    pub(crate) delay_ms: u64,
}

/// A piece of a tool's output.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct ToolChunkSpec {
    pub(crate) text: Option<String>,
    pub(crate) block_id: Option<String>,
    pub(crate) data: Option<DataSpec>,
    #[serde(default)]
    pub(crate) metadata: Map<String, Value>,
    pub(crate) state: Option<String>,
    pub(crate) raise: Option<String>,
    #[serde(default)]
    pub(crate) hang: bool,
    #[serde(default)]
    pub(crate) delay_ms: u64,
}

/// One, or a list.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum OneOrMany<T> {
    Many(Vec<T>),
    One(T),
}

impl<T> OneOrMany<T> {
    pub(crate) fn as_slice(&self) -> &[T] {
        match self {
            Self::Many(many) => many,
            Self::One(one) => std::slice::from_ref(one),
        }
    }
}
