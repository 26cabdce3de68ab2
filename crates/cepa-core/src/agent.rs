//! The agent: a plain reasoning-acting loop in the middle of its onion.
//!
//! The way of one reply through the files: [`Agent::reply`] prepares a [`ReplyCall`] (`call`), which makes a
//! [`ReplyScope`] (`scope`) and runs the chain of `on_reply`. In its middle stands the loop (`reply`): it takes the
//! input in (`input`), and then, until the state says that it is over (`next_action`), asks the model (`round`,
//! `ask`, `model_call`, `block_events`) or runs tool calls (`acting`, `permission`). Before each question the context is kept
//! short (`compress`) and the model is told what has changed (`inject`). Whatever happens, every call gets a result
//! (`closing`, `context`).

mod acting;
mod ask;
mod block_events;
mod builder;
mod call;
mod cancel;
mod clock;
mod closing;
mod compress;
mod config;
mod context;
mod definition;
mod emit;
#[cfg(test)]
mod for_tests;
mod inject;
mod input;
mod model_call;
mod next_action;
mod offload;
mod onion;
mod permission;
mod reply;
mod round;
mod saving;
mod scope;
mod scratch;
mod session;
mod structured;
mod structured_request;
mod typed;

use std::{fmt, sync::Arc};

pub(crate) use self::session::StateLock;
pub use self::{
    builder::{AgentBuilder, BuildError},
    call::{AgentStream, ReplyCall, ReplyStream},
    cancel::CancelToken,
    config::{ContextConfig, InjectionConfig, ReactConfig},
    definition::AgentDefinition,
    offload::Offloader,
    onion::Onion,
    scope::ReplyScope,
    scratch::Scratch,
    structured::GENERATE_STRUCTURED_OUTPUT,
    typed::TypedReplyCall,
};
use self::{
    definition::Definition, saving::SavedText, scope::ClosesReply, scratch::TypedContext, session::Session,
};
use crate::{
    chain::{Compress, Outlet, StateGuard},
    error::{ErrorKind, Result},
    id::Id,
    message::{ToolCallBlock, ToolCallState},
    middleware::{CompressInput, Inputs},
    state::AgentState,
};

/// An agent with its session: a shared [`AgentDefinition`] and a state of its own.
///
/// ```
/// use cepa_core::{Agent, BoxFuture, ChatModel, ChatResponse, ModelOutlet, ModelRequest, Result};
///
/// #[derive(Debug)]
/// struct Polite;
///
/// impl ChatModel for Polite {
///     fn name(&self) -> &str {
///         "polite"
///     }
///     fn call(&self, _request: ModelRequest, _out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
///         Box::pin(async { Ok(ChatResponse::own_text("How do you do?")) })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut agent = Agent::builder("Friday").system_prompt("Be polite.").model(Polite).build()?;
/// let message = agent.reply("Hello").await?;
/// assert_eq!(message.text().as_deref(), Some("How do you do?"));
/// # Ok(()) }
/// ```
pub struct Agent {
    definition: Arc<Definition>,
    session: Arc<Session>,
    /// What was saved last, to save faster the next time.
    saved: Option<Box<SavedText>>,
}

impl Agent {
    /// Starts to put an agent together.
    pub fn builder(name: impl Into<String>) -> AgentBuilder {
        AgentBuilder::new(name)
    }

    fn from_parts(definition: Arc<Definition>, state: AgentState) -> Self {
        Self { definition, session: Arc::new(Session::new(state)), saved: None }
    }

    /// Answers messages, or goes on with a parked reply: see [`Inputs`] for what it takes.
    ///
    /// `.await` gives the message; `.stream()` the events. A reply that waits for a person ends the call with the
    /// events that say so; [`waiting_for`](Self::waiting_for) tells it from a finished one.
    pub fn reply(&mut self, inputs: impl Into<Inputs>) -> ReplyCall<'_> {
        ReplyCall::new(self.definition.clone(), self.session.clone(), inputs.into())
    }

    /// As [`reply`](Self::reply), owning the agent: for `'static` responses of web servers.
    pub fn into_stream(self, inputs: impl Into<Inputs>) -> AgentStream {
        let call = ReplyCall::new(self.definition.clone(), self.session.clone(), inputs.into());
        AgentStream::new(self, call)
    }

    /// Adds messages to the context without answering. While a reply is parked they are put before it, so that its
    /// questions stay open.
    ///
    /// # Errors
    /// A message that may not be an input.
    pub async fn observe(&mut self, messages: impl Into<Inputs>) -> Result<()> {
        let inputs = messages.into();
        let scope = self.scope();
        let _closes = ClosesReply(scope.clone());
        let messages = scope.prepare(inputs.messages()).await?;
        let mut state = self.session.lock()?;
        let place = state.place_of_parked(&self.definition.name).unwrap_or(state.context.len());
        state.context.splice(place..place, messages);
        Ok(())
    }

    /// Compresses the context if it is over the threshold, through `on_compress_context`.
    ///
    /// # Errors
    /// Those of the model and of the layers.
    pub async fn compress(&mut self, input: CompressInput) -> Result<()> {
        let scope = self.scope();
        let _closes = ClosesReply(scope.clone());
        let chain = scope.chain::<Compress>(Outlet::unheard(None), input);
        chain.or_interrupt(&scope).await.unwrap_or(Err(ErrorKind::Interrupted.into()))
    }

    fn scope(&self) -> Arc<ReplyScope> {
        ReplyScope::new(self.definition.clone(), self.session.clone(), TypedContext::default(), None, None)
    }

    /// The session's state. Do not hold it while a reply of this agent runs elsewhere.
    ///
    /// # Errors
    /// *Reentrant* when this thread holds the state already.
    pub fn state(&self) -> Result<StateGuard<'_>> {
        self.session.lock().map(StateGuard)
    }

    /// What a parked reply waits for; `None` when no reply is parked.
    pub fn waiting_for(&self) -> Option<Waiting> {
        let state = self.session.lock().ok()?;
        let calls = state.awaiting_tool_calls(&self.definition.name).into_iter().cloned();
        let (confirmations, external): (Vec<_>, Vec<_>) =
            calls.partition(|call| call.state == ToolCallState::Asking);
        if confirmations.is_empty() && external.is_empty() {
            return None;
        }
        Some(Waiting { reply_id: state.reply_id().clone(), confirmations, external })
    }

    /// What the agent shares with others of its kind.
    pub fn definition(&self) -> AgentDefinition {
        AgentDefinition(self.definition.clone())
    }

    /// The agent's name.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// The onion, layer by layer and hook by hook: prints as text, and as Mermaid.
    pub fn onion(&self) -> Onion {
        self.definition().onion()
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("definition", &self.definition()).finish_non_exhaustive()
    }
}

/// What a parked reply waits for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Waiting {
    /// The reply.
    pub reply_id: Id,
    /// Calls that a person is asked about: answer with a `UserConfirmResultEvent`.
    pub confirmations: Vec<ToolCallBlock>,
    /// Calls that run elsewhere: answer with an `ExternalExecutionResultEvent`.
    pub external: Vec<ToolCallBlock>,
}
