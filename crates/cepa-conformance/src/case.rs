//! The format of a case file.

mod agent;
mod behaviour;
mod call;
mod model;

use std::{collections::BTreeMap, path::Path};

use serde::Deserialize;
use serde_json::{Map, Value};

pub(crate) use self::{
    agent::{AgentSpec, MessageSpec},
    behaviour::{BehaviourSpec, OneOrMany, ToolChunkSpec, ToolSpec},
    call::{CallSpec, CancelAfter, ConfirmSpec, ReplyOptions, RulesSpec, StopAfter},
    model::{ChunkSpec, DataSpec, DeltaSpec, ModelCallSpec, ModelSpec, RaiseSpec, UsageSpec},
};

/// One scripted agent, what is done to it, and what must come out.
#[derive(Debug, Deserialize)]
pub struct Case {
    pub(crate) name: String,
    pub(crate) area: String,
    pub(crate) agent: AgentSpec,
    #[serde(default)]
    pub(crate) models: BTreeMap<String, ModelSpec>,
    #[serde(default)]
    pub(crate) tools: Vec<ToolSpec>,
    #[serde(default)]
    pub(crate) tool_groups: Vec<GroupSpec>,
    #[serde(default)]
    pub(crate) middlewares: Vec<LayerSpec>,
    pub(crate) calls: Vec<CallSpec>,
    /// Missing where the recorded behaviour is a fault: such a case is there to be read, not to be compared with.
    pub(crate) expected: Option<Expected>,
}

/// What must come out.
#[derive(Debug, Deserialize)]
pub(crate) struct Expected {
    /// One recording per call.
    pub(crate) calls: Vec<Value>,
}

/// A layer: its kind, and what the kind needs.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct LayerSpec {
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) label: String,
    #[serde(flatten)]
    pub(crate) options: Map<String, Value>,
}

/// A group of tools that is switched on and off together.
#[derive(Debug, Deserialize)]
pub(crate) struct GroupSpec {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) description: String,
    pub(crate) instructions: Option<String>,
    #[serde(default)]
    pub(crate) tools: Vec<GroupTool>,
    #[serde(default, alias = "activated")]
    pub(crate) active: bool,
}

/// A tool of a group: in full, or the name of one of the case's tools.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum GroupTool {
    Named(String),
    Own(Box<ToolSpec>),
}

/// A file that is no case.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct CaseError {
    path: String,
    reason: String,
}

impl Case {
    /// Reads a case file.
    ///
    /// # Errors
    /// The file cannot be read, or is no case.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, CaseError> {
        let path = path.as_ref();
        let failed = |reason: String| CaseError { path: path.display().to_string(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| failed(error.to_string()))
    }

    /// Does something more at the end: a call in the words of the case files.
    ///
    /// # Errors
    /// It is no call.
    pub fn then(mut self, call: Value) -> Result<Self, CaseError> {
        self.calls.push(self.read("a further call", call)?);
        Ok(self)
    }

    /// Has the model of this label give one more answer, in the words of the case files.
    ///
    /// # Errors
    /// It is no answer, or the case has no such model.
    pub fn answers(mut self, model: &str, answer: Value) -> Result<Self, CaseError> {
        let answer = self.read("a further answer", answer)?;
        match self.models.get_mut(model) {
            Some(model) => model.calls.push(answer),
            None => return Err(CaseError { path: self.name, reason: format!("no model `{model}`") }),
        }
        Ok(self)
    }

    /// Has these layers in place of its own, in the words of the case files: where it needs one that there is not yet.
    ///
    /// # Errors
    /// They are no layers.
    pub fn with_layers(mut self, layers: Value) -> Result<Self, CaseError> {
        self.middlewares = self.read("other layers", layers)?;
        Ok(self)
    }

    fn read<T: serde::de::DeserializeOwned>(&self, what: &str, value: Value) -> Result<T, CaseError> {
        serde_json::from_value(value)
            .map_err(|error| CaseError { path: self.name.clone(), reason: format!("{what}: {error}") })
    }
}
