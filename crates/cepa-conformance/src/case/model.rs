//! Scripted models.

use serde::Deserialize;
use serde_json::Value;

use super::OneOrMany;

/// A model and its answers.
#[derive(Debug, Deserialize)]
pub(crate) struct ModelSpec {
    pub(crate) name: String,
    pub(crate) context_size: Option<u64>,
    /// How often the model itself tries a failed request again.
    #[serde(default)]
    pub(crate) max_retries: usize,
    /// Answers to ordinary requests, one after the other.
    #[serde(default)]
    pub(crate) calls: Vec<ModelCallSpec>,
    /// Answers to requests for an object.
    #[serde(default)]
    pub(crate) structured_calls: Vec<ModelCallSpec>,
}

/// One answer: exactly one of `chunks`, `response`, `object`, `raise` and `hang`.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct ModelCallSpec {
    pub(crate) chunks: Option<Vec<OneOrMany<ChunkSpec>>>,
    pub(crate) response: Option<Vec<DeltaSpec>>,
    pub(crate) object: Option<Value>,
    pub(crate) usage: Option<UsageSpec>,
    pub(crate) raise: Option<RaiseSpec>,
    #[serde(default)]
    pub(crate) hang: bool,
    #[serde(default)]
    pub(crate) delay_ms: u64,
}

/// A piece of a streamed answer.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct ChunkSpec {
    #[serde(flatten)]
    pub(crate) delta: DeltaSpec,
    /// The whole answer, as the model's own last chunk.
    pub(crate) last: Option<Vec<DeltaSpec>>,
    pub(crate) usage: Option<UsageSpec>,
    pub(crate) raise: Option<RaiseSpec>,
    #[serde(default)]
    pub(crate) hang: bool,
    #[serde(default)]
    pub(crate) delay_ms: u64,
}

/// A piece of a block, or a whole one.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct DeltaSpec {
    pub(crate) text: Option<String>,
    pub(crate) thinking: Option<String>,
    pub(crate) tool_call: Option<ToolCallSpec>,
    pub(crate) data: Option<DataSpec>,
}

/// A piece of a tool call.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ToolCallSpec {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) input: String,
}

/// A piece of a data block.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct DataSpec {
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) media_type: String,
    pub(crate) data: Option<String>,
    pub(crate) url: Option<String>,
}

/// Tokens spent.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct UsageSpec {
    #[serde(default)]
    pub(crate) input_tokens: u64,
    #[serde(default)]
    pub(crate) output_tokens: u64,
    #[serde(default)]
    pub(crate) cache_input_tokens: u64,
    #[serde(default)]
    pub(crate) cache_creation_input_tokens: u64,
}

/// A failure of the request.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct RaiseSpec {
    /// `retryable` is the only kind that the model itself tries again.
    #[serde(default)]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) message: String,
}

impl RaiseSpec {
    pub(crate) fn is_retryable(&self) -> bool {
        self.kind == "retryable"
    }
}
