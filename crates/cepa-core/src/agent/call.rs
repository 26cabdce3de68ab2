//! A reply, being prepared and running.

use std::{
    future::IntoFuture,
    marker::PhantomData,
    pin::Pin,
    sync::{Arc, atomic::Ordering::Relaxed},
    task::{Context, Poll},
};

use futures_core::Stream;
use serde_json::Value;

use super::{
    Agent, CancelToken,
    closing::Why,
    context,
    definition::Definition,
    emit::Events,
    scope::{ClosesReply, ReplyScope},
    scratch::TypedContext,
    session::Session,
};
use crate::{
    chain::{BoxFuture, Items, Outlet, Reader, Reply, Tap},
    error::{Error, ErrorKind, Result},
    event::{AgentEvent, EventKind, Ticket},
    id::Id,
    message::{ErrorInfo, Msg, ReplyFinishedReason},
    middleware::{Inputs, ReplyInput},
};

/// A reply being prepared: `.await` it for its message, or [`stream`](Self::stream) its events.
///
/// It borrows the agent mutably, so that two replies on one state at once do not compile.
#[must_use = "nothing happens until this is awaited or streamed"]
pub struct ReplyCall<'a> {
    parts: Parts,
    agent: PhantomData<&'a mut Agent>,
}

struct Parts {
    definition: Arc<Definition>,
    session: Arc<Session>,
    input: ReplyInput,
    context: TypedContext,
    cancel: Option<CancelToken>,
}

impl<'a> ReplyCall<'a> {
    pub(super) fn new(definition: Arc<Definition>, session: Arc<Session>, inputs: Inputs) -> Self {
        let input = ReplyInput::new(inputs);
        let parts = Parts { definition, session, input, context: TypedContext::default(), cancel: None };
        Self { parts, agent: PhantomData }
    }

    /// Gives a value to this reply, by its type: hooks and tools read it with `cx.context::<T>()`.
    pub fn with<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.parts.context.insert(value);
        self
    }

    /// Asks for a structured output that fits this JSON schema: the message's `structured_output`.
    pub fn schema(mut self, schema: impl Into<Value>) -> Self {
        self.parts.input.structured_schema = Some(Arc::new(schema.into()));
        self
    }

    /// Interrupts the reply when this token is cancelled.
    pub fn cancel_on(mut self, token: CancelToken) -> Self {
        self.parts.cancel = Some(token);
        self
    }

    /// The reply's events as they happen. Dropping the stream ends the reply and leaves the state valid.
    pub fn stream(self) -> ReplyStream<'a> {
        ReplyStream { inner: self.parts.stream(), agent: PhantomData }
    }
}

impl<'a> IntoFuture for ReplyCall<'a> {
    type Output = Result<Msg>;
    type IntoFuture = BoxFuture<'a, Result<Msg>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            // The same stream, with nobody listening.
            let (scope, out, input) = self.parts.start(None);
            let _closes = ClosesReply(scope.clone());
            scope.drive(out, input).await
        })
    }
}

impl std::fmt::Debug for ReplyCall<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReplyCall").field("input", &self.parts.input).finish_non_exhaustive()
    }
}

impl Parts {
    fn start(self, reader: Option<&Reader<AgentEvent>>) -> (Arc<ReplyScope>, Outlet<AgentEvent>, ReplyInput) {
        let begins = matches!(self.input.inputs, Inputs::Nothing | Inputs::Messages(_));
        let coming = begins.then(Id::new);
        let scope = ReplyScope::new(self.definition, self.session, self.context, self.cancel, coming);
        let tap = Some(Arc::new(leaving(scope.clone())));
        let out = match reader {
            Some(reader) => reader.outlet(tap),
            None => Outlet::unheard(tap),
        };
        (scope, out, self.input)
    }

    fn stream(self) -> ReplyEvents {
        let reader = Reader::new();
        let (scope, out, input) = self.start(Some(&reader));
        let closes = ClosesReply(scope.clone());
        let items = Items::of_future(reader, Box::pin(async move { scope.drive(out, input).await }));
        ReplyEvents { items: Some(items), closes }
    }
}

/// What every event passes on its way out of the onion, whether anybody listens or not.
fn leaving(scope: Arc<ReplyScope>) -> Tap<AgentEvent> {
    Tap::new(move |event: &mut AgentEvent| {
        if let EventKind::ReplyEnd { ticket, .. } = &mut event.kind {
            scope.end_left.store(true, Relaxed);
            // It has done its work, and must not look swallowed when the user drops the event.
            *ticket = Ticket::default();
        }
        for observer in &scope.definition.observers {
            observer(event);
        }
    })
}

impl ReplyScope {
    /// Runs the whole onion. A reply that fails, whose layers are given up, or whose end a layer has held and then
    /// dropped, ends here for its reader. (A layer may keep the end of an interrupted reply for itself.)
    async fn drive(self: Arc<Self>, out: Outlet<AgentEvent>, input: ReplyInput) -> Result<Msg> {
        let chain = self.chain::<Reply>(out.clone(), input);
        let Some(result) = chain.or_interrupt(&self).await else {
            return Box::pin(self.abandon(out)).await;
        };
        let (reason, error) = match &result {
            Ok(message) => (message.finished_reason.unwrap_or(ReplyFinishedReason::Completed), None),
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted) => {
                (ReplyFinishedReason::Interrupted, None)
            }
            Err(error) => (ReplyFinishedReason::Error, Some(error.info())),
        };
        if reason != ReplyFinishedReason::Interrupted {
            self.send_last_end(out, reason, error).await;
        }
        result
    }

    fn has_begun(&self) -> bool {
        self.run_state().begun
    }

    /// Whether somebody is still waited for. Then the reply is not over, whatever has failed: it goes on with the
    /// answer.
    fn is_parked(&self) -> bool {
        self.state().is_ok_and(|state| context::open_calls(&state, &self.definition.name).awaiting)
    }

    /// Layers did not come to an end after an interrupt, or had not begun: the reply ends without them.
    async fn abandon(&self, out: Outlet<AgentEvent>) -> Result<Msg> {
        let reply_id = self.state()?.reply_id().clone();
        if self.has_begun() && !self.end_left.load(Relaxed) {
            self.close_open_calls(&Events::to(out.clone(), reply_id), Why::Interrupted).await?;
        }
        self.send_last_end(out, ReplyFinishedReason::Interrupted, None).await;
        self.interrupted_message()
    }

    /// Sends the end of a reply that is over, past the layers, if none has left them.
    async fn send_last_end(
        &self,
        out: Outlet<AgentEvent>,
        finished_reason: ReplyFinishedReason,
        error: Option<ErrorInfo>,
    ) {
        if !self.has_begun() || self.end_left.load(Relaxed) || self.is_parked() {
            return;
        }
        let Ok((reply_id, session_id)) =
            self.state().map(|state| (state.reply_id().clone(), state.session_id.clone()))
        else {
            return;
        };
        let ticket = Ticket::default();
        Events::to(out, reply_id.clone())
            .emit(EventKind::ReplyEnd { reply_id, session_id, finished_reason, error, ticket })
            .await;
    }
}

/// The events of a running reply.
struct ReplyEvents {
    /// Dropped before the reply is closed: what runs inside must be gone by then.
    items: Option<Items<Reply>>,
    closes: ClosesReply,
}

impl ReplyEvents {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        match &mut self.items {
            Some(items) => Pin::new(items).poll_next(cx).map(|event| event.map(|event| *event)),
            None => Poll::Ready(None),
        }
    }

    async fn finish(mut self) -> Result<Msg> {
        match self.items.take() {
            Some(items) => items.finish().await,
            None => Err(Error::polled_after_end()),
        }
    }
}

impl Drop for ReplyEvents {
    fn drop(&mut self) {
        self.items = None;
        self.closes.0.close();
    }
}

/// The events of a reply as they happen, and then its message. Made by [`ReplyCall::stream`].
///
/// Nothing happens while it is not read. Dropping it at any point drops what runs inside and leaves the state valid.
#[must_use = "nothing happens while the stream is not read"]
pub struct ReplyStream<'a> {
    inner: ReplyEvents,
    agent: PhantomData<&'a mut Agent>,
}

impl ReplyStream<'_> {
    /// The next event, or `None` when the reply has ended or is parked.
    pub async fn next(&mut self) -> Option<AgentEvent> {
        std::future::poll_fn(|cx| self.inner.poll_next(cx)).await
    }

    /// The reply's message. Reads and drops the events that are left.
    ///
    /// # Errors
    /// What ended the reply.
    pub async fn finish(self) -> Result<Msg> {
        self.inner.finish().await
    }
}

impl Stream for ReplyStream<'_> {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        self.inner.poll_next(cx)
    }
}

impl std::fmt::Debug for ReplyStream<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReplyStream").finish_non_exhaustive()
    }
}

/// The events of a reply that owns its agent, for responses of web servers. Made by [`Agent::into_stream`].
#[must_use = "nothing happens while the stream is not read"]
pub struct AgentStream {
    inner: ReplyEvents,
    agent: Agent,
}

impl AgentStream {
    pub(super) fn new(agent: Agent, call: ReplyCall<'static>) -> Self {
        Self { inner: call.parts.stream(), agent }
    }

    /// The next event, or `None` when the reply has ended or is parked.
    pub async fn next(&mut self) -> Option<AgentEvent> {
        std::future::poll_fn(|cx| self.inner.poll_next(cx)).await
    }

    /// The agent, and the reply's message. Reads and drops the events that are left.
    pub async fn finish(self) -> (Agent, Result<Msg>) {
        let Self { inner, agent } = self;
        (agent, inner.finish().await)
    }

    /// Ends the reply where it stands and gives the agent back, with a valid state.
    pub fn into_agent(self) -> Agent {
        self.agent
    }
}

impl Stream for AgentStream {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        self.inner.poll_next(cx)
    }
}

impl std::fmt::Debug for AgentStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentStream").field("agent", &self.agent).finish_non_exhaustive()
    }
}
