//! What agents of one kind share: built and checked once.

use std::{fmt, sync::Arc};

use super::{
    Agent, Offloader,
    config::{ContextConfig, InjectionConfig, ReactConfig},
    onion::Onion,
};
use crate::{
    chain::{AgentHook, Listed},
    event::AgentEvent,
    middleware::{HookSet, Middleware},
    model::{ChatModel, ModelOptions, ToolSchema},
    permission::PermissionContext,
    state::AgentState,
    tool::Toolkit,
};

/// A function that sees every event that leaves the onion.
pub(super) type Observer = Box<dyn Fn(&AgentEvent) + Send + Sync>;

/// What agents of one kind share: name, prompt, model, tools, layers. Built and checked once
/// ([`AgentBuilder::define`](super::AgentBuilder::define)), cheap to clone; an agent is made of it for each session.
///
/// ```no_run
/// # fn model() -> std::sync::Arc<dyn cepa_core::ChatModel> { unimplemented!() }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use cepa_core::{Agent, AgentState};
///
/// let definition = Agent::builder("Friday").model(model()).define()?;
/// let fresh = definition.agent();
/// let resumed = definition.agent_with(cepa_core::serde_json::from_str::<AgentState>("{}")?);
/// # let _ = (fresh, resumed); Ok(()) }
/// ```
#[derive(Clone)]
pub struct AgentDefinition(pub(super) Arc<Definition>);

pub(crate) struct Definition {
    pub(super) name: Arc<str>,
    pub(super) system_prompt: String,
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) fallback_model: Option<Arc<dyn ChatModel>>,
    pub(super) model_retries: u32,
    pub(super) options: ModelOptions,
    pub(super) toolkit: Toolkit,
    pub(super) offloader: Option<Arc<dyn Offloader>>,
    pub(super) react: ReactConfig,
    pub(super) context: Arc<ContextConfig>,
    pub(super) injection: InjectionConfig,
    pub(super) permissions: PermissionContext,
    pub(super) observers: Vec<Observer>,
    pub(super) layers: Arc<[Listed<dyn Middleware>]>,
    /// The layers of each hook, by [`AgentHook::INDEX`].
    pub(super) lists: [Arc<[Listed<dyn Middleware>]>; 7],
    /// What the model is offered while no group is on and no structured output is asked for.
    pub(super) schemas: Arc<[ToolSchema]>,
}

impl Definition {
    pub(super) fn layers<H: AgentHook>(&self) -> &Arc<[Listed<dyn Middleware>]> {
        &self.lists[H::INDEX]
    }
}

/// The list of each hook: the layers that implement it, outermost first.
pub(super) fn lists(layers: &[Listed<dyn Middleware>]) -> [Arc<[Listed<dyn Middleware>]>; 7] {
    let hooks = [
        HookSet::REPLY,
        HookSet::REASONING,
        HookSet::MODEL_CALL,
        HookSet::CHECK_PERMISSION,
        HookSet::ACTING,
        HookSet::COMPRESS_CONTEXT,
        HookSet::SYSTEM_PROMPT,
    ];
    hooks.map(|hook| {
        let implementing = layers.iter().filter(|listed| listed.layer.hooks().contains(hook));
        implementing.map(Listed::clone_entry).collect()
    })
}

impl AgentDefinition {
    /// An agent with a new session.
    pub fn agent(&self) -> Agent {
        let mut state = AgentState::new();
        state.permission_context = self.0.permissions.clone();
        self.agent_with(state)
    }

    /// An agent that goes on with this session.
    pub fn agent_with(&self, state: AgentState) -> Agent {
        Agent::from_parts(self.0.clone(), state)
    }

    /// The agents' name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The agents' model.
    pub fn model(&self) -> &Arc<dyn ChatModel> {
        &self.0.model
    }

    /// The agents' tools, those of the layers included.
    pub fn toolkit(&self) -> &Toolkit {
        &self.0.toolkit
    }

    /// The onion, layer by layer and hook by hook: prints as text, and as Mermaid.
    pub fn onion(&self) -> Onion {
        Onion::of(&self.0.name, &self.0.layers)
    }
}

impl fmt::Debug for AgentDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentDefinition")
            .field("name", &self.0.name)
            .field("model", &self.0.model.name())
            .field("tools", &self.0.toolkit)
            .field("layers", &self.0.layers)
            .finish_non_exhaustive()
    }
}
