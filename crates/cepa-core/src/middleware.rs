//! Layers: the trait, what its hooks are given, and layers made of closures.

mod closure;
mod hook_set;
mod inputs;
mod keyed;
mod node;
mod order;

use std::{borrow::Cow, sync::Arc};

pub(crate) use self::order::warn_of_order;
pub use self::{
    closure::{
        FnLayer, on_acting, on_check_permission, on_compress_context, on_model_call, on_reasoning, on_reply,
        on_system_prompt,
    },
    hook_set::HookSet,
    inputs::{CompressInput, Inputs, PermissionRequest, ReasoningInput, ReplyInput},
    keyed::{Keyed, MiddlewareExt},
    node::{Jump, after_agent, after_model, before_agent, before_model, wrap_model_call, wrap_tool_call},
    order::OrderRule,
};
pub use crate::store::MiddlewareKey;
use crate::{
    chain::{
        Acting, BoxFuture, CheckPermission, Compress, Cx, ModelCall, Next, Reasoning, Reply, SystemPrompt,
    },
    error::Result,
    message::Msg,
    model::{ChatResponse, ModelRequest},
    permission::PermissionDecision,
    tool::{ActingInput, Tool, ToolResponse},
};

/// A layer around the agent: code before, `next`, code after, or no `next` at all.
///
/// Write it with `#[middleware]`, which turns `async fn`s that take `&self` into these methods, and writes
/// [`hooks`](Self::hooks), [`key`](Self::key) and [`name`](Self::name). An instance holds configuration only and
/// may serve any number of agents at once; what it remembers lives in `cx.my_state()` (saved with the session) or
/// `cx.scratch()` (this reply only).
///
/// | hook | wraps |
/// |---|---|
/// | [`on_reply`](Self::on_reply) | one whole reply, to its end or to a pause for a person |
/// | [`on_reasoning`](Self::on_reasoning) | one round: prompt, model call, parsing |
/// | [`on_model_call`](Self::on_model_call) | one attempt of the raw model request |
/// | [`on_check_permission`](Self::on_check_permission) | the decision on one validated tool call |
/// | [`on_acting`](Self::on_acting) | running one permitted tool |
/// | [`on_compress_context`](Self::on_compress_context) | one compression of the context |
/// | [`on_system_prompt`](Self::on_system_prompt) | no `next`: each layer gets the prompt of the one before |
///
/// ```
/// use std::time::Instant;
/// use cepa_core::{Cx, Middleware, Msg, Next, Reply, ReplyInput, Result, middleware};
///
/// struct Timing;
///
/// #[middleware]
/// impl Middleware for Timing {
///     async fn on_reply(&self, cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
///         let start = Instant::now();
///         let msg = next.run(input).await?; // events go straight to the caller
///         println!("{} took {:?}", cx.agent_name(), start.elapsed());
///         Ok(msg)
///     }
/// }
///
/// assert!(Timing.hooks().contains(cepa_core::HookSet::REPLY));
/// ```
pub trait Middleware: Send + Sync + 'static {
    /// The hooks that are implemented: others are left out of the hook's list when the agent is built.
    fn hooks(&self) -> HookSet {
        let named = self.__hook_names().map(|names| names.iter().map(|name| HookSet::named(name)).collect());
        named.unwrap_or(HookSet::ALL)
    }

    /// What the layer is called in errors and in `agent.onion()`.
    fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(self.__type_name().unwrap_or_else(short_type_name::<Self>))
    }

    /// Where the layer's state is kept in the session. `None` for a layer that keeps nothing.
    ///
    /// `#[middleware]` returns the type's bare name, AgentScope's class name, so that sessions can be exchanged.
    fn key(&self) -> Option<MiddlewareKey> {
        self.__type_name().map(MiddlewareKey::from)
    }

    /// The key of a layer that is named after its place.
    #[doc(hidden)]
    fn key_at(&self, position: usize) -> Option<MiddlewareKey> {
        let _ = position;
        self.key()
    }

    /// Beside which other layers it belongs where: the agent's builder warns of what is the wrong way round.
    fn order(&self) -> &'static [OrderRule] {
        &[]
    }

    /// Tools that the layer offers: they are in the agent's toolkit without further ado.
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }

    /// Wraps one whole reply, from the input to its end or to a pause for a person.
    fn on_reply(
        self: Arc<Self>,
        cx: Cx<Reply>,
        input: ReplyInput,
        next: Next<Reply>,
    ) -> BoxFuture<'static, Result<Msg>> {
        drop(cx);
        Box::pin(next.run(input))
    }

    /// Wraps one round: prompt, model call, parsing. Returns the round's message if it may be the last one.
    fn on_reasoning(
        self: Arc<Self>,
        cx: Cx<Reasoning>,
        input: ReasoningInput,
        next: Next<Reasoning>,
    ) -> BoxFuture<'static, Result<Option<Msg>>> {
        drop(cx);
        Box::pin(next.run(input))
    }

    /// Wraps one attempt of the raw model request, also of those that the agent or a layer makes for itself.
    fn on_model_call(
        self: Arc<Self>,
        cx: Cx<ModelCall>,
        request: ModelRequest,
        next: Next<ModelCall>,
    ) -> BoxFuture<'static, Result<ChatResponse>> {
        drop(cx);
        Box::pin(next.run(request))
    }

    /// Wraps the decision on one validated tool call. The request holds copies: changing them changes what is
    /// decided on, not what runs.
    fn on_check_permission(
        self: Arc<Self>,
        cx: Cx<CheckPermission>,
        request: PermissionRequest,
        next: Next<CheckPermission>,
    ) -> BoxFuture<'static, Result<PermissionDecision>> {
        drop(cx);
        Box::pin(next.run(request))
    }

    /// Wraps running one permitted tool: pure input and output, no context writes inside.
    fn on_acting(
        self: Arc<Self>,
        cx: Cx<Acting>,
        input: ActingInput,
        next: Next<Acting>,
    ) -> BoxFuture<'static, Result<ToolResponse>> {
        drop(cx);
        Box::pin(next.run(input))
    }

    /// Wraps one compression of the context.
    fn on_compress_context(
        self: Arc<Self>,
        cx: Cx<Compress>,
        input: CompressInput,
        next: Next<Compress>,
    ) -> BoxFuture<'static, Result<()>> {
        drop(cx);
        Box::pin(next.run(input))
    }

    /// Changes the system prompt, once per model request.
    fn on_system_prompt(
        self: Arc<Self>,
        cx: Cx<SystemPrompt>,
        prompt: String,
    ) -> BoxFuture<'static, Result<String>> {
        drop(cx);
        Box::pin(std::future::ready(Ok(prompt)))
    }

    /// The names of the hooks in the block that `#[middleware]` stands on. It and [`Self::__type_name`] are written by
    /// the attribute and of the standard library's types, so that the block need not know what this crate is called.
    #[doc(hidden)]
    fn __hook_names(&self) -> Option<&'static [&'static str]> {
        None
    }

    /// The bare name of the type that `#[middleware]` stands on.
    #[doc(hidden)]
    fn __type_name(&self) -> Option<&'static str> {
        None
    }
}

/// A type's name without its path and its generic arguments.
pub(crate) fn short_type_name<T: ?Sized>() -> &'static str {
    let name = std::any::type_name::<T>();
    let name = name.split('<').next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name)
}
