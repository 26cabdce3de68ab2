//! The agent of a case.

use serde::Deserialize;
use serde_json::{Map, Value};

/// The agent. What is not set has the library's default, but for the injection of the runtime state, which is off.
#[derive(Debug, Deserialize)]
pub(crate) struct AgentSpec {
    pub(crate) name: String,
    pub(crate) system_prompt: String,
    /// Label of the model.
    pub(crate) model: String,
    #[serde(default)]
    pub(crate) react_config: Map<String, Value>,
    #[serde(default)]
    pub(crate) context_config: Map<String, Value>,
    #[serde(default)]
    pub(crate) injection_config: Map<String, Value>,
    #[serde(default)]
    pub(crate) model_config: ModelConfigSpec,
    pub(crate) permission_context: Option<Value>,
    #[serde(default)]
    pub(crate) initial_context: Vec<MessageSpec>,
    pub(crate) summary: Option<Value>,
    #[serde(default)]
    pub(crate) tasks: Vec<Map<String, Value>>,
    #[serde(default)]
    pub(crate) offloader: bool,
}

/// The agent's own retries.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ModelConfigSpec {
    #[serde(default)]
    pub(crate) max_retries: u32,
    /// Label of the model that is asked when the first one fails.
    pub(crate) fallback_model: Option<String>,
}

/// A message: with a text, or with blocks.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct MessageSpec {
    pub(crate) id: Option<String>,
    pub(crate) role: String,
    pub(crate) name: String,
    pub(crate) text: Option<String>,
    #[serde(default)]
    pub(crate) content: Vec<Value>,
}
