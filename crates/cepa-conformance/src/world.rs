//! What a case is made of: its models, its tools, and the agents that are built of them.

mod config;
mod state;

use std::{collections::BTreeMap, sync::Arc};

use cepa_core::{Agent, AgentState, ChatModel, ToolGroup};
use serde_json::{Map, Value};

pub(crate) use self::state::message;
use crate::{
    case::{Case, GroupSpec, GroupTool, LayerSpec, ToolSpec},
    error::RunError,
    layers::Layer,
    log::Log,
    models::ScriptedModel,
    offloader::FakeOffloader,
    spans::Spans,
    tools::ScriptedTool,
    workdir::Workdir,
};

/// The scripted parts of a case. They outlive an agent: a reloaded one goes on with the same scripts.
pub(crate) struct World {
    pub(crate) log: Log,
    pub(crate) spans: Spans,
    pub(crate) workdir: Workdir,
    models: BTreeMap<String, Arc<ScriptedModel>>,
    tools: Vec<Arc<ScriptedTool>>,
    offloader: Arc<FakeOffloader>,
}

/// An agent, and the layers it has.
pub(crate) struct Staffed {
    pub(crate) agent: Agent,
    pub(crate) layers: Vec<Layer>,
}

impl World {
    /// The parts of a case. Takes the models' scripts out of it.
    pub(crate) fn new(case: &mut Case) -> Self {
        let log = Log::default();
        let models = std::mem::take(&mut case.models);
        let models = models.into_iter().map(|(label, spec)| {
            let model = ScriptedModel::new(&label, spec, &log);
            (label, model)
        });
        let grouped = |spec: &&ToolSpec| !case.tool_groups.iter().any(|group| names(group, &spec.name));
        let tools = case.tools.iter().filter(grouped).map(|spec| ScriptedTool::new(spec, &log)).collect();
        let offloader = FakeOffloader::new(&log);
        Self {
            models: models.collect(),
            tools,
            offloader,
            log,
            spans: Spans::default(),
            workdir: Workdir::default(),
        }
    }

    /// The model of this label.
    ///
    /// # Errors
    /// The case has none.
    pub(crate) fn model(&self, label: &str) -> Result<Arc<dyn ChatModel>, RunError> {
        match self.models.get(label) {
            Some(model) => Ok(model.clone()),
            None => Err(RunError::not_supported(format!("model `{label}`, which the case does not have"))),
        }
    }

    /// An agent of the case that goes on with a state.
    ///
    /// # Errors
    /// Something in the case cannot be read, or does not fit in an agent.
    pub(crate) fn agent(
        &self,
        case: &Case,
        layers: &[LayerSpec],
        react_config: Option<&Map<String, Value>>,
        state: AgentState,
    ) -> Result<Staffed, RunError> {
        let spec = &case.agent;
        let mut builder = Agent::builder(&spec.name)
            .system_prompt(&spec.system_prompt)
            .model(self.model(&spec.model)?)
            .model_retries(spec.model_config.max_retries)
            .react_config(config::react(react_config.unwrap_or(&spec.react_config))?)
            .context_config(config::context(&spec.context_config)?)
            .injection_config(config::injection(&spec.injection_config)?)
            .tools(self.tools.iter().cloned())
            .state(state);
        if let Some(label) = &spec.model_config.fallback_model {
            builder = builder.fallback_model(self.model(label)?);
        }
        if spec.offloader {
            builder = builder.offloader(self.offloader.clone());
        }
        for group in &case.tool_groups {
            builder = builder.tool_group(self.group(group, case)?);
        }
        let layers = layers.iter().map(|spec| Layer::new(spec, self)).collect::<Result<Vec<_>, _>>()?;
        for layer in &layers {
            builder = builder.middleware(layer.middleware());
        }
        Ok(Staffed { agent: builder.build()?, layers })
    }

    /// The state that the case's first agent begins with.
    ///
    /// # Errors
    /// Something in it cannot be read.
    pub(crate) fn first_state(case: &Case) -> Result<AgentState, RunError> {
        state::first(case)
    }

    fn group(&self, spec: &GroupSpec, case: &Case) -> Result<ToolGroup, RunError> {
        let mut group = ToolGroup::new(&spec.name, &spec.description);
        if let Some(text) = &spec.instructions {
            group = group.with_instructions(text);
        }
        for tool in &spec.tools {
            let tool = match tool {
                GroupTool::Own(tool) => tool,
                GroupTool::Named(name) => {
                    case.tools.iter().find(|tool| tool.name == *name).ok_or_else(|| {
                        RunError::not_supported(format!("tool `{name}` in group `{}`", spec.name))
                    })?
                }
            };
            group = group.tool(ScriptedTool::new(tool, &self.log));
        }
        Ok(group)
    }
}

fn names(group: &GroupSpec, tool: &str) -> bool {
    group.tools.iter().any(|named| matches!(named, GroupTool::Named(name) if name == tool))
}
