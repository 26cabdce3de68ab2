//! Putting an agent together, and saying what does not fit.

use std::{collections::HashMap, fmt, sync::Arc};

use super::{
    Agent, AgentDefinition, Offloader,
    compress::CompressContextTool,
    config::{ContextConfig, InjectionConfig, ReactConfig},
    definition::{Definition, Observer, lists},
    structured::GENERATE_STRUCTURED_OUTPUT,
};
use crate::{
    chain::Listed,
    event::AgentEvent,
    middleware::{Middleware, MiddlewareKey, warn_of_order},
    model::{ChatModel, ModelOptions},
    permission::PermissionContext,
    shared::IntoShared,
    state::AgentState,
    tool::{Tool, ToolGroup, ToolkitBuilder, ToolkitError, Validator},
};

/// Puts an agent together. Layers stand in the order in which they are added: the first is the outermost.
#[must_use = "nothing is built until `build()` or `define()`"]
#[derive(Default)]
pub struct AgentBuilder {
    name: String,
    system_prompt: String,
    model: Option<Arc<dyn ChatModel>>,
    fallback_model: Option<Arc<dyn ChatModel>>,
    model_retries: u32,
    options: ModelOptions,
    tools: Vec<Arc<dyn Tool>>,
    groups: Vec<ToolGroup>,
    layers: Vec<Arc<dyn Middleware>>,
    observers: Vec<Observer>,
    offloader: Option<Arc<dyn Offloader>>,
    react: ReactConfig,
    context: ContextConfig,
    injection: InjectionConfig,
    permissions: PermissionContext,
    state: Option<AgentState>,
}

/// What does not fit in an agent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// An agent without a name.
    #[error("an agent needs a name: give one to `Agent::builder`")]
    EmptyName,
    /// An agent without a model.
    #[error("agent `{0}` has no model: add one with `.model(…)`")]
    NoModel(String),
    /// Two layers of one key.
    #[error(
        "layers {first} and {second} both keep their state under the key `{key}`: give one of them another with \
         `.keyed(\"…\")`"
    )]
    DuplicateKey {
        /// The key.
        key: MiddlewareKey,
        /// Place of the first layer, counted from 1.
        first: usize,
        /// Place of the second layer.
        second: usize,
    },
    /// The tools.
    #[error(transparent)]
    Tools(#[from] ToolkitError),
    /// A value that is out of its bounds.
    #[error("`{field}` is {value}, but must be {bounds}")]
    OutOfBounds {
        /// The setting.
        field: &'static str,
        /// Its value.
        value: String,
        /// What is allowed.
        bounds: &'static str,
    },
    /// A text or a schema that cannot be used.
    #[error("`{field}` cannot be used: {reason}")]
    Invalid {
        /// The setting.
        field: &'static str,
        /// What is wrong.
        reason: String,
    },
}

impl AgentBuilder {
    pub(super) fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Sets the system prompt. Layers may add to it before each model request.
    pub fn system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = prompt.into();
        self
    }

    /// Sets the model.
    pub fn model(mut self, model: impl IntoShared<dyn ChatModel>) -> Self {
        self.model = Some(model.into_shared());
        self
    }

    /// Sets the model that is asked when the first one has failed in all its attempts.
    pub fn fallback_model(mut self, model: impl IntoShared<dyn ChatModel>) -> Self {
        self.fallback_model = Some(model.into_shared());
        self
    }

    /// Sets how often a failed model request is tried again, for each model. 0 by default; requests of which
    /// something was shown are not repeated.
    pub fn model_retries(mut self, retries: u32) -> Self {
        self.model_retries = retries;
        self
    }

    /// Sets parameters for every chat request.
    pub fn model_options(mut self, options: ModelOptions) -> Self {
        self.options = options;
        self
    }

    /// Adds a tool.
    pub fn tool(mut self, tool: impl IntoShared<dyn Tool>) -> Self {
        self.tools.push(tool.into_shared());
        self
    }

    /// Adds tools.
    pub fn tools<T: IntoShared<dyn Tool>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.tools.extend(tools.into_iter().map(IntoShared::into_shared));
        self
    }

    /// Adds a group of tools that the agent can switch on and off.
    pub fn tool_group(mut self, group: ToolGroup) -> Self {
        self.groups.push(group);
        self
    }

    /// Adds a layer, inside of those that were added before.
    pub fn middleware(mut self, layer: impl IntoShared<dyn Middleware>) -> Self {
        self.layers.push(layer.into_shared());
        self
    }

    /// Adds a function that sees every event that leaves the onion, and cannot change it. It must not take long:
    /// the reply waits for it.
    pub fn observer(mut self, observer: impl Fn(&AgentEvent) + Send + Sync + 'static) -> Self {
        self.observers.push(Box::new(observer));
        self
    }

    /// Sets where cut results, compressed messages and files go.
    pub fn offloader(mut self, offloader: Arc<dyn Offloader>) -> Self {
        self.offloader = Some(offloader);
        self
    }

    /// Sets the reasoning-acting loop.
    pub fn react_config(mut self, config: ReactConfig) -> Self {
        self.react = config;
        self
    }

    /// Sets when and how the context is kept short.
    pub fn context_config(mut self, config: ContextConfig) -> Self {
        self.context = config;
        self
    }

    /// Sets what the agent is told of time, tasks and its own context.
    pub fn injection_config(mut self, config: InjectionConfig) -> Self {
        self.injection = config;
        self
    }

    /// Sets mode and rules with which new sessions begin.
    pub fn permissions(mut self, permissions: PermissionContext) -> Self {
        self.permissions = permissions;
        self
    }

    /// Sets the session that the built agent goes on with.
    pub fn state(mut self, state: AgentState) -> Self {
        self.state = Some(state);
        self
    }

    /// Checks everything and makes one agent.
    ///
    /// # Errors
    /// What does not fit.
    pub fn build(mut self) -> Result<Agent, BuildError> {
        let state = self.state.take();
        let definition = self.define()?;
        Ok(match state {
            Some(state) => definition.agent_with(state),
            None => definition.agent(),
        })
    }

    /// Checks everything and makes the definition that agents are made of.
    ///
    /// # Errors
    /// What does not fit.
    pub fn define(self) -> Result<AgentDefinition, BuildError> {
        if self.name.trim().is_empty() {
            return Err(BuildError::EmptyName);
        }
        let model = self.model.clone().ok_or_else(|| BuildError::NoModel(self.name.clone()))?;
        self.check_configs()?;
        let layers = number(&self.layers)?;
        warn_of_order(&self.name, &layers);
        let toolkit = self.toolkit(&layers)?;
        let schemas = toolkit.schemas(&[], None).cloned().collect();
        Ok(AgentDefinition(Arc::new(Definition {
            name: self.name.into(),
            system_prompt: self.system_prompt,
            model,
            fallback_model: self.fallback_model,
            model_retries: self.model_retries,
            options: self.options,
            toolkit,
            offloader: self.offloader,
            react: self.react,
            context: Arc::new(self.context),
            injection: self.injection,
            permissions: self.permissions,
            observers: self.observers,
            lists: lists(&layers),
            layers: layers.into(),
            schemas,
        })))
    }

    fn toolkit(&self, layers: &[Listed<dyn Middleware>]) -> Result<crate::tool::Toolkit, ToolkitError> {
        let mut builder = ToolkitBuilder::new(self.groups.clone())?;
        builder.reserve(GENERATE_STRUCTURED_OUTPUT, "the agent itself (it takes structured outputs)");
        for tool in &self.tools {
            builder.add(tool.clone(), "the agent")?;
        }
        for listed in layers {
            for tool in listed.layer.tools() {
                builder.add(tool, &format!("layer {} (`{}`)", listed.position, listed.name))?;
            }
        }
        if self.context.compression_tool_enabled {
            builder.add(Arc::new(CompressContextTool), "the agent itself (it compresses the context)")?;
        }
        builder.build()
    }

    fn check_configs(&self) -> Result<(), BuildError> {
        let Self { context, injection, react, .. } = self;
        let bounds = [
            (
                "trigger_ratio",
                context.trigger_ratio,
                context.trigger_ratio > 0.0 && context.trigger_ratio <= 0.9,
                "above 0 and at most 0.9",
            ),
            (
                "reserve_ratio",
                context.reserve_ratio,
                context.reserve_ratio > 0.0 && context.reserve_ratio < 0.9,
                "above 0 and below 0.9",
            ),
            (
                "reserve_ratio",
                context.reserve_ratio,
                context.reserve_ratio < context.trigger_ratio,
                "below `trigger_ratio`",
            ),
            (
                "context_buffer_ratio",
                context.context_buffer_ratio,
                (0.0..=1.0).contains(&context.context_buffer_ratio),
                "between 0 and 1",
            ),
            ("time_interval", injection.time_interval, injection.time_interval >= 0.0, "0 or more"),
            (
                "tool_retries_limit",
                injection.tool_retries_limit as f64,
                injection.tool_retries_limit >= 3,
                "3 or more",
            ),
            (
                "structured_output_grace_iters",
                f64::from(react.structured_output_grace_iters),
                react.structured_output_grace_iters > 0,
                "1 or more",
            ),
        ];
        let buffer_counts = injection.inject_runtime_state || context.compression_tool_enabled;
        let buffer = (
            "context_buffer_ratio",
            context.context_buffer_ratio,
            !buffer_counts || context.context_buffer_ratio < context.trigger_ratio,
            "below `trigger_ratio`",
        );
        for (field, value, holds, bounds) in bounds.into_iter().chain([buffer]) {
            if !holds {
                return Err(BuildError::OutOfBounds { field, value: value.to_string(), bounds });
            }
        }
        if let Err(reason) = Validator::new(&context.summary_schema) {
            return Err(BuildError::Invalid { field: "summary_schema", reason });
        }
        if injection.inject_runtime_state {
            super::inject::check(injection)?;
        }
        Ok(())
    }
}

/// Numbers the layers and makes sure that each has a place of its own in the store.
fn number(layers: &[Arc<dyn Middleware>]) -> Result<Vec<Listed<dyn Middleware>>, BuildError> {
    let mut taken: HashMap<MiddlewareKey, usize> = HashMap::new();
    let mut listed = Vec::with_capacity(layers.len());
    for (index, layer) in layers.iter().enumerate() {
        let position = index + 1;
        let key = layer.key_at(position);
        if let Some(key) = &key
            && let Some(first) = taken.insert(key.clone(), position)
        {
            return Err(BuildError::DuplicateKey { key: key.clone(), first, second: position });
        }
        let (name, total) = (layer.name().into(), layers.len());
        listed.push(Listed { layer: layer.clone(), name, key, position, total });
    }
    Ok(listed)
}

impl fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layers: Vec<_> = self.layers.iter().map(|layer| layer.name()).collect();
        f.debug_struct("AgentBuilder")
            .field("name", &self.name)
            .field("layers", &layers)
            .finish_non_exhaustive()
    }
}
