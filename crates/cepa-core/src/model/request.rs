//! What a model is asked.

use std::{borrow::Cow, fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ChatModel, ToolChoice};
use crate::{fields::Fields, message::Msg};

/// One request to a chat model: the input of `on_model_call`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ModelRequest {
    /// The conversation: system prompt, summary, context. Shared with the state, copied when changed
    /// (`Arc::make_mut`).
    pub messages: Vec<Arc<Msg>>,
    /// The tools that are offered. A call of a tool that is not among them is not run.
    pub tools: Arc<[ToolSchema]>,
    /// Which tool the model may or must call; `None` leaves it to the server.
    pub tool_choice: Option<ToolChoice>,
    /// Sampling and other parameters.
    pub options: ModelOptions,
    /// The model that is asked. `None` outside of an agent.
    pub model: Option<Arc<dyn ChatModel>>,
    /// What the request is for.
    pub purpose: Purpose,
}

impl ModelRequest {
    /// A request without tools.
    pub fn new(messages: impl IntoIterator<Item = impl Into<Arc<Msg>>>) -> Self {
        Self {
            messages: messages.into_iter().map(Into::into).collect(),
            tools: Arc::new([]),
            tool_choice: None,
            options: ModelOptions::default(),
            model: None,
            purpose: Purpose::Chat,
        }
    }

    /// Offers these tools.
    pub fn with_tools(mut self, tools: impl Into<Arc<[ToolSchema]>>) -> Self {
        self.tools = tools.into();
        self
    }

    /// Sets which tool the model may or must call.
    pub fn with_tool_choice(mut self, choice: impl Into<Option<ToolChoice>>) -> Self {
        self.tool_choice = choice.into();
        self
    }

    /// Sets the parameters.
    pub fn with_options(mut self, options: ModelOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the model that is asked.
    pub fn with_model(mut self, model: Arc<dyn ChatModel>) -> Self {
        self.model = Some(model);
        self
    }

    /// Sets what the request is for.
    pub fn with_purpose(mut self, purpose: Purpose) -> Self {
        self.purpose = purpose;
        self
    }
}

/// What a model request is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Purpose {
    /// A step of the reply.
    #[default]
    Chat,
    /// Summing up the context to compress it.
    Summary,
    /// Choosing a model.
    Routing,
    /// Ordering search hits.
    Reranking,
    /// Choosing memories.
    MemorySelection,
    /// A layer's own.
    Other(Cow<'static, str>),
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Chat => "chat",
            Self::Summary => "summary",
            Self::Routing => "routing",
            Self::Reranking => "reranking",
            Self::MemorySelection => "memory_selection",
            Self::Other(purpose) => purpose,
        })
    }
}

/// Parameters of a request. What is `None` is left to the server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct ModelOptions {
    /// Sampling temperature, 0 to 2.
    pub temperature: Option<f64>,
    /// Nucleus sampling, 0 to 1.
    pub top_p: Option<f64>,
    /// The most tokens of the answer.
    pub max_tokens: Option<u32>,
    /// Seed for repeatable sampling.
    pub seed: Option<i64>,
    /// Texts that end the answer.
    pub stop: Vec<String>,
    /// Further parameters, sent as they are.
    pub extra: Fields,
}

impl ModelOptions {
    /// Fills what is not set from `defaults`.
    pub fn or(mut self, defaults: &Self) -> Self {
        self.temperature = self.temperature.or(defaults.temperature);
        self.top_p = self.top_p.or(defaults.top_p);
        self.max_tokens = self.max_tokens.or(defaults.max_tokens);
        self.seed = self.seed.or(defaults.seed);
        if self.stop.is_empty() {
            self.stop.clone_from(&defaults.stop);
        }
        for (key, value) in defaults.extra.iter() {
            if !self.extra.contains_key(key) {
                self.extra.insert(key, value.clone());
            }
        }
        self
    }
}

/// A tool as the model sees it.
#[derive(Clone, PartialEq)]
pub struct ToolSchema(Arc<Inner>);

#[derive(PartialEq)]
struct Inner {
    name: Arc<str>,
    description: String,
    parameters: Value,
    /// Bytes of the schema's JSON text, for the token estimate.
    json_len: usize,
}

impl ToolSchema {
    /// A tool with this name, description and JSON schema of its arguments.
    pub fn new(name: impl Into<Arc<str>>, description: impl Into<String>, parameters: Value) -> Self {
        let (name, description) = (name.into(), description.into());
        let mut inner = Inner { name, description, parameters, json_len: 0 };
        inner.json_len = super::estimate::json_len(&inner.to_json());
        Self(Arc::new(inner))
    }

    /// The tool's name.
    pub fn name(&self) -> &Arc<str> {
        &self.0.name
    }

    /// What the tool does, for the model.
    pub fn description(&self) -> &str {
        &self.0.description
    }

    /// The JSON schema of its arguments.
    pub fn parameters(&self) -> &Value {
        &self.0.parameters
    }

    /// `{"type": "function", "function": {name, description, parameters}}`.
    pub fn to_json(&self) -> Value {
        self.0.to_json()
    }

    pub(super) fn json_len(&self) -> usize {
        self.0.json_len
    }
}

impl Inner {
    fn to_json(&self) -> Value {
        json!({
            "type": "function",
            "function": {
                "name": &*self.name,
                "description": self.description,
                "parameters": self.parameters,
            },
        })
    }
}

impl fmt::Debug for ToolSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolSchema").field(&self.0.name).finish()
    }
}
