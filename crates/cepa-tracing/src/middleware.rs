//! The traces as a layer.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use cepa_core::{
    Acting, ActingInput, BoxFuture, ChatResponse, Cx, HookSet, Middleware, MiddlewareKey, ModelCall,
    ModelRequest, Msg, Next, Reply, ReplyInput, Result, ToolResponse,
};
use opentelemetry::metrics::Meter;
use tracing::Level;

use crate::{capture::Capture, metrics::Instruments};

/// Makes a span of each reply, each model call and each tool call, by the OpenTelemetry GenAI semantic conventions
/// (AgentScope 2.0.11's middleware of the same name).
///
/// | span | of | status |
/// |---|---|---|
/// | `invoke_agent NAME` | one call of `agent.reply`, to its end or to a pause | error when the reply fails |
/// | `chat MODEL` | one call of a model; also those that the agent or a layer makes for itself | error when the request fails |
/// | `execute_tool NAME` | one tool call that was allowed to run | error when the tool fails, or is interrupted |
///
/// Spans are those of the [`tracing`] crate: they nest with the spans of your own code and of HTTP clients, and any
/// subscriber may take them. To send them to a collector, add the layer of `tracing-opentelemetry`, or let `otlp()` of
/// this crate set it up. They are on the level *info* and of the target `cepa_tracing`. Without a subscriber that wants
/// them this layer does nothing.
///
/// A reply that goes on after a pause is a trace of its own; it links to the paused one's, also on another machine. (The
/// link is kept in the metadata of the reply's message, under `traceparent`.) Both have the same reply id.
///
/// What ended early is marked by `cepa.cancelled`: a reply that was interrupted, and one that nobody listened to any
/// more. That is no failure; an interrupted tool is one, and so is a panic.
///
/// Put it outermost: then it sees what other layers do. Inside a layer that asks the model again, each attempt has its
/// span anyway.
///
/// ```
/// use cepa_tracing::{Capture, TracingMiddleware};
///
/// let tracing = TracingMiddleware::new().capture(Capture::lengths());
/// // Agent::builder("Friday").middleware(tracing)…
/// # let _ = tracing;
/// ```
#[derive(Default)]
pub struct TracingMiddleware {
    pub(crate) capture: Capture,
    meter: Option<Meter>,
    instruments: OnceLock<Instruments>,
}

impl TracingMiddleware {
    /// A layer that captures no content.
    pub fn new() -> Self {
        Self::default()
    }

    /// What of the content goes into spans. Nothing by default.
    pub fn capture(mut self, capture: Capture) -> Self {
        self.capture = capture;
        self
    }

    /// Where metrics go, also when nobody wants the spans. By default they go to the program's meter provider (the one
    /// there is when the first reply begins), as long as there are spans.
    ///
    /// They are `gen_ai.client.token.usage`, `gen_ai.client.operation.duration` and
    /// `gen_ai.client.operation.time_to_first_chunk`.
    pub fn meter(mut self, meter: Meter) -> Self {
        self.meter = Some(meter);
        self
    }

    pub(crate) fn instruments(&self) -> &Instruments {
        self.instruments.get_or_init(|| Instruments::new(self.meter.as_ref()))
    }

    /// Whether anybody wants to know.
    #[inline]
    fn is_on(&self) -> bool {
        tracing::span_enabled!(target: "cepa_tracing", Level::INFO) || self.meter.is_some()
    }
}

// By hand rather than by `#[middleware]`: where nobody wants to know, the rest of the chain is all there is, as if no layer
// stood here.
impl Middleware for TracingMiddleware {
    fn hooks(&self) -> HookSet {
        HookSet::REPLY | HookSet::MODEL_CALL | HookSet::ACTING
    }

    fn key(&self) -> Option<MiddlewareKey> {
        Some("TracingMiddleware".into())
    }

    fn on_reply(
        self: Arc<Self>,
        cx: Cx<Reply>,
        input: ReplyInput,
        next: Next<Reply>,
    ) -> BoxFuture<'static, Result<Msg>> {
        if !self.is_on() {
            return Box::pin(next.run(input));
        }
        Box::pin(async move { self.reply(cx, input, next).await })
    }

    fn on_model_call(
        self: Arc<Self>,
        cx: Cx<ModelCall>,
        request: ModelRequest,
        next: Next<ModelCall>,
    ) -> BoxFuture<'static, Result<ChatResponse>> {
        if !self.is_on() {
            return Box::pin(next.run(request));
        }
        Box::pin(async move { self.chat(cx, request, next).await })
    }

    fn on_acting(
        self: Arc<Self>,
        cx: Cx<Acting>,
        input: ActingInput,
        next: Next<Acting>,
    ) -> BoxFuture<'static, Result<ToolResponse>> {
        if !self.is_on() {
            return Box::pin(next.run(input));
        }
        Box::pin(async move { self.tool(cx, input, next).await })
    }
}

impl fmt::Debug for TracingMiddleware {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TracingMiddleware").field("capture", &self.capture).finish_non_exhaustive()
    }
}
