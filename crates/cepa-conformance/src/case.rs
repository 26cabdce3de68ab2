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
pub(crate) struct Case {
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
pub(crate) struct CaseError {
    path: String,
    reason: String,
}

impl Case {
    /// Reads a case file.
    pub(crate) fn read(path: &Path) -> Result<Self, CaseError> {
        let failed = |reason: String| CaseError { path: path.display().to_string(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| failed(error.to_string()))
    }
}
