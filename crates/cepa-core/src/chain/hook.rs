//! What a hook is, and the hooks there are.

use std::sync::Arc;

use super::{BoxFuture, Cx, Next};
use crate::{
    agent::ReplyScope,
    error::{Error, Result},
    event::AgentEvent,
    message::Msg,
    middleware::{CompressInput, Middleware, MiddlewareKey, PermissionRequest, ReasoningInput, ReplyInput},
    model::{ChatChunk, ChatResponse, ModelRequest},
    permission::PermissionDecision,
    tool::{ActingInput, ToolCallInput, ToolChunk, ToolMiddleware, ToolResponse, ToolScope},
};

/// A named point of the agent's life that layers wrap: its input, its items and its output.
///
/// The hooks are fixed; the trait is sealed. What they wrap is told at [`Middleware`]. It is there to write what serves
/// any hook:
///
/// ```
/// use std::time::Instant;
/// use cepa_core::{Hook, Next, Reply, Result};
///
/// /// Says how long the rest of any chain took.
/// async fn timed<H: Hook>(input: H::Input, next: Next<H>) -> Result<H::Output> {
///     let start = Instant::now();
///     let output = next.run(input).await;
///     println!("{} took {:?}", H::NAME, start.elapsed());
///     output
/// }
/// # let _ = timed::<Reply>;
/// ```
pub trait Hook: sealed::Sealed + Sized + Send + Sync + 'static {
    /// What goes in, layer by layer.
    type Input: Send + 'static;
    /// What streams outward while the hook runs; [`Never`] where nothing does.
    type Item: Send + 'static;
    /// What the hook returns at its end.
    type Output: Send + 'static;
    /// The hook's name, which is the name of the trait method.
    const NAME: &'static str;

    #[doc(hidden)]
    type Layer: ?Sized + Send + Sync + 'static;
    #[doc(hidden)]
    type Scope: Clone + Send + Sync + 'static;
    /// Whether items are the content and the output is its envelope.
    #[doc(hidden)]
    const CONTENT: bool = false;

    #[doc(hidden)]
    fn call(
        layer: Arc<Self::Layer>,
        cx: Cx<Self>,
        input: Self::Input,
        next: Next<Self>,
    ) -> BoxFuture<'static, Result<Self::Output>>;

    /// Called with each output that leaves a layer or the core: content that was not sent as items is taken out
    /// of it, to be sent. An error if it holds other content than what was `sent`.
    #[doc(hidden)]
    fn settle(_output: &mut Self::Output, _sent: bool) -> Result<Option<Self::Item>> {
        Ok(None)
    }
}

/// A hook whose items stream: `tap`, `stream` and `emit` are for these.
///
/// ```
/// use cepa_core::{Next, Reply, Result, chain::Streams};
///
/// /// Counts what goes out of any hook with items.
/// async fn counted<H: Streams>(input: H::Input, next: Next<H>) -> Result<(H::Output, usize)> {
///     let mut count = 0;
///     let output = next.tap(input, |_item| count += 1).await?;
///     Ok((output, count))
/// }
/// # let _ = counted::<Reply>;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no items: it returns one value",
    label = "use `next.run(input).await` here"
)]
pub trait Streams: Hook {}

/// The hooks of an agent, which know its state.
///
/// ```
/// use cepa_core::{Cx, Reasoning, Result, chain::AgentHook};
///
/// /// How many messages the context of any hook's agent holds.
/// fn context_len<H: AgentHook>(cx: &Cx<H>) -> Result<usize> {
///     Ok(cx.state()?.context.len())
/// }
/// # let _ = context_len::<Reasoning>;
/// ```
pub trait AgentHook: Hook<Layer = dyn Middleware, Scope = Arc<ReplyScope>> {
    /// The hook's place among the lists of layers.
    #[doc(hidden)]
    const INDEX: usize;
}

impl AgentHook for SystemPrompt {
    const INDEX: usize = 6;
}

/// The item of a hook that streams nothing.
#[derive(Clone, Copy, Debug)]
pub enum Never {}

mod sealed {
    pub trait Sealed {}
}

/// A layer in the list of one hook.
pub(crate) struct Listed<L: ?Sized> {
    pub(crate) layer: Arc<L>,
    pub(crate) name: Arc<str>,
    pub(crate) key: Option<MiddlewareKey>,
    /// Where the layer stands in the agent's own list, counted from 1.
    pub(crate) position: usize,
    /// How many layers the agent has.
    pub(crate) total: usize,
}

impl<L: ?Sized> Listed<L> {
    pub(crate) fn clone_entry(&self) -> Self {
        Self {
            layer: self.layer.clone(),
            name: self.name.clone(),
            key: self.key.clone(),
            position: self.position,
            total: self.total,
        }
    }
}

impl<L: ?Sized> std::fmt::Debug for Listed<L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({} of {})", self.name, self.position, self.total)
    }
}

macro_rules! agent_hooks {
    ($($(#[$doc:meta])* $index:literal $hook:ident = $method:ident($input:ty), $item:ty => $output:ty $(, $settle:item)*;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub enum $hook {}
        impl sealed::Sealed for $hook {}
        impl AgentHook for $hook {
            const INDEX: usize = $index;
        }
        impl Hook for $hook {
            type Input = $input;
            type Item = $item;
            type Output = $output;
            type Layer = dyn Middleware;
            type Scope = Arc<ReplyScope>;
            const NAME: &'static str = stringify!($method);
            fn call(
                layer: Arc<dyn Middleware>,
                cx: Cx<Self>,
                input: $input,
                next: Next<Self>,
            ) -> BoxFuture<'static, Result<$output>> {
                layer.$method(cx, input, next)
            }
            $($settle)*
        }
    )*};
}

agent_hooks! {
    /// One whole reply, from the input to its end or to a pause for a person.
    0 Reply = on_reply(ReplyInput), AgentEvent => Msg;
    /// One round: prompt, model call, parsing. The output is the round's message if it may be the last one.
    1 Reasoning = on_reasoning(ReasoningInput), AgentEvent => Option<Msg>;
    /// One attempt of the raw model request; the agent's retries and fallback run around it.
    2 ModelCall = on_model_call(ModelRequest), ChatChunk => ChatResponse,
        const CONTENT: bool = true;,
        fn settle(output: &mut ChatResponse, sent: bool) -> Result<Option<ChatChunk>> {
            Ok(output.content.settle(sent).map_err(|_| Error::content_changed())?.map(ChatChunk::from_blocks))
        };
    /// The decision on one validated tool call.
    3 CheckPermission = on_check_permission(PermissionRequest), Never => PermissionDecision;
    /// Running one permitted tool: pure input and output, no context writes inside.
    4 Acting = on_acting(ActingInput), ToolChunk => ToolResponse,
        const CONTENT: bool = true;,
        fn settle(output: &mut ToolResponse, sent: bool) -> Result<Option<ToolChunk>> {
            Ok(output.content.settle(sent).map_err(|_| Error::content_changed())?.map(ToolChunk::from_blocks))
        };
    /// One compression of the context.
    5 Compress = on_compress_context(CompressInput), Never => ();
}

/// The pipeline that builds the system prompt: no `next`, each layer gets the prompt of the one before.
#[derive(Debug)]
pub enum SystemPrompt {}
impl sealed::Sealed for SystemPrompt {}
impl Hook for SystemPrompt {
    type Input = String;
    type Item = Never;
    type Output = String;
    type Layer = dyn Middleware;
    type Scope = Arc<ReplyScope>;
    const NAME: &'static str = "on_system_prompt";
    fn call(
        layer: Arc<dyn Middleware>,
        cx: Cx<Self>,
        prompt: String,
        next: Next<Self>,
    ) -> BoxFuture<'static, Result<String>> {
        Box::pin(async move {
            let prompt = layer.on_system_prompt(cx, prompt).await?;
            next.run(prompt).await
        })
    }
}

/// The onion around one tool or one group of tools: also there when a tool is called without an agent.
#[derive(Debug)]
pub enum ToolCalling {}
impl sealed::Sealed for ToolCalling {}
impl Hook for ToolCalling {
    type Input = ToolCallInput;
    type Item = ToolChunk;
    type Output = ToolResponse;
    type Layer = dyn ToolMiddleware;
    type Scope = ToolScope;
    const NAME: &'static str = "on_tool_call";
    const CONTENT: bool = true;
    fn call(
        layer: Arc<dyn ToolMiddleware>,
        cx: Cx<Self>,
        input: ToolCallInput,
        next: Next<Self>,
    ) -> BoxFuture<'static, Result<ToolResponse>> {
        layer.on_tool_call(cx, input, next)
    }
    fn settle(output: &mut ToolResponse, sent: bool) -> Result<Option<ToolChunk>> {
        Acting::settle(output, sent)
    }
}

impl Streams for Reply {}
impl Streams for Reasoning {}
impl Streams for ModelCall {}
impl Streams for Acting {}
impl Streams for ToolCalling {}
