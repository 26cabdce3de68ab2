//! One reply: what its hooks, its tools and its loop share.

use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_core::Stream as _;
use tokio::time::Sleep;

use super::{
    cancel::CancelToken,
    context,
    definition::Definition,
    inject::TimeTold,
    scratch::{Scratch, TypedContext},
    session::{Session, StateLock},
};
use crate::{
    chain::{
        AgentHook, Compress, Core, Frame, Items, Listed, Next, Outlet, Reasoning, Reply, Running, Streams,
    },
    error::{Error, ErrorKind, Result},
    id::Id,
    message::{Msg, Usage},
    middleware::Middleware,
    model::{ChatModel, ToolChoice, ToolSchema},
    tool::{Entry, Toolkit},
};

/// One reply: what its hooks, its tools and its loop share. Reached through [`Cx`](crate::Cx).
pub struct ReplyScope {
    pub(super) definition: Arc<Definition>,
    pub(super) session: Arc<Session>,
    scratch: Scratch,
    context: TypedContext,
    cancel: Option<CancelToken>,
    /// The id of the reply that begins with this input; `None` where one goes on.
    coming: Option<Id>,
    closed: AtomicBool,
    /// A `REPLY_END` has left the outermost layer since the loop last asked.
    pub(super) end_left: AtomicBool,
    pub(super) replying: AtomicBool,
    pub(super) reasoning: AtomicBool,
    pub(super) run: Mutex<RunState>,
}

/// What the loop keeps between its steps. Never locked across an `await`.
#[derive(Default)]
pub(super) struct RunState {
    /// The input was stored and `REPLY_START` sent: a layer that runs the whole reply again finds it done.
    pub(super) begun: bool,
    /// The system prompt of the next model request.
    pub(super) prompt: Option<Arc<Msg>>,
    /// The system prompt of the model request before.
    pub(super) last_prompt: Option<Arc<Msg>>,
    /// What was spent before the reply had a message to keep it in.
    pub(super) unplaced_usage: Option<Usage>,
    /// What the last chat request offered, as it reached the model.
    pub(super) offered: Option<Offered>,
    /// Calls whose `TOOL_RESULT_START` was sent in this run.
    pub(super) started: Vec<Id>,
    /// Calls that a person allowed in another form than was asked about, and whether they name another tool.
    pub(super) edited: Vec<(Id, bool)>,
    /// Rounds that layers have added to the limit.
    pub(super) extra_iters: u32,
    /// When the model was last told the time.
    pub(super) time_told: Option<TimeTold>,
    /// A model call was cut off by an interrupt.
    pub(super) cut_off: bool,
    /// The tool that takes the structured output, while one is asked for.
    pub(super) structured: Option<Arc<Entry>>,
    /// A layer asked to end the reply.
    pub(super) end_requested: bool,
    /// A person refused a call and the agent is set to stop then.
    pub(super) stop_after_reject: bool,
    /// What was offered last, to offer it again without putting it together.
    pub(super) schemas: Option<(Vec<String>, Arc<[ToolSchema]>)>,
}

/// What a model was offered.
#[derive(Clone)]
pub(super) struct Offered {
    pub(super) tools: Arc<[ToolSchema]>,
    pub(super) choice: Option<ToolChoice>,
}

impl ReplyScope {
    pub(super) fn new(
        definition: Arc<Definition>,
        session: Arc<Session>,
        context: TypedContext,
        cancel: Option<CancelToken>,
        coming: Option<Id>,
    ) -> Arc<Self> {
        Arc::new(Self {
            definition,
            session,
            scratch: Scratch::default(),
            context,
            cancel,
            coming,
            closed: AtomicBool::new(false),
            end_left: AtomicBool::new(false),
            replying: AtomicBool::new(false),
            reasoning: AtomicBool::new(false),
            run: Mutex::default(),
        })
    }

    pub(crate) fn agent_name(&self) -> &str {
        &self.definition.name
    }

    pub(crate) fn model(&self) -> &Arc<dyn ChatModel> {
        &self.definition.model
    }

    pub(crate) fn toolkit(&self) -> &Toolkit {
        &self.definition.toolkit
    }

    /// The id of a reply that was not begun yet.
    pub(super) fn coming(&self) -> Option<&Id> {
        self.coming.as_ref().filter(|_| !self.run_state().begun)
    }

    pub(crate) fn reply_id(&self) -> Result<Id> {
        match self.coming() {
            Some(id) => Ok(id.clone()),
            None => Ok(self.state()?.reply_id().clone()),
        }
    }

    pub(crate) fn context<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.context.get()
    }

    pub(crate) fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// The state, locked. For layers and tools: an error when the reply is over.
    pub(crate) fn state(&self) -> Result<StateLock<'_>> {
        if self.closed.load(Relaxed) {
            return Err(ErrorKind::ReplyOver.into());
        }
        self.session.lock()
    }

    pub(super) fn run_state(&self) -> MutexGuard<'_, RunState> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.cancel.as_ref().is_some_and(CancelToken::is_cancelled)
    }

    /// Waits until the reply is interrupted; for ever where nothing can do that.
    pub(crate) async fn interrupted(&self) {
        match &self.cancel {
            Some(cancel) => cancel.cancelled().await,
            None => std::future::pending().await,
        }
    }

    /// Ends the reply, whatever became of it: its context gives no access any more, and the state is left valid.
    pub(super) fn close(&self) {
        if self.closed.swap(true, Relaxed) {
            return;
        }
        self.place_usage();
        self.close_calls_now();
    }

    /// Keeps what was spent though the reply has no message: with the last one, so that the sums are right.
    fn place_usage(&self) {
        let Some(usage) = self.run_state().unplaced_usage.take() else { return };
        if let Ok(mut state) = self.session.lock() {
            match state.context.last_mut() {
                Some(last) => Arc::make_mut(last).add_usage(usage),
                None => context::add_reply_usage(&mut state, &self.definition.name, usage),
            }
        }
    }

    /// Gives every call that nobody will end a result, in the state alone.
    pub(super) fn close_calls_now(&self) {
        if !self.run_state().begun {
            return;
        }
        if let Ok(mut state) = self.session.lock() {
            context::close_abandoned_calls(&mut state, &self.definition.name);
        }
    }

    /// Runs the chain of a hook, with this reply as its core.
    pub(super) fn chain<H>(self: &Arc<Self>, out: Outlet<H::Item>, input: H::Input) -> Chain<H>
    where
        H: AgentHook,
        Self: Core<H>,
    {
        self.chain_of(self.definition.layers::<H>().clone(), out, input)
    }

    /// As [`chain`](Self::chain), through these layers of the agent alone.
    pub(super) fn chain_of<H>(
        self: &Arc<Self>,
        layers: Layers,
        out: Outlet<H::Item>,
        input: H::Input,
    ) -> Chain<H>
    where
        H: AgentHook,
        Self: Core<H>,
    {
        let frame = Frame::new(self.clone(), self.clone(), layers);
        let running = Next::root(frame.clone(), out).run(input);
        Chain { frame, running }
    }

    /// The chain of a hook around this core, as a stream of what comes out.
    pub(super) fn chain_stream<H: AgentHook + Streams>(
        self: &Arc<Self>,
        core: Arc<dyn Core<H>>,
        input: H::Input,
    ) -> (Arc<Frame<H>>, Items<H>) {
        let frame = Frame::new(self.clone(), core, self.definition.layers::<H>().clone());
        let items = Next::root(frame.clone(), Outlet::unheard(None)).stream(input);
        (frame, items)
    }

    /// How long the layers of a hook may go on after an interrupt. Those of a hook that runs around others get a bit
    /// more: when an inner layer is given up, there is time left for what has to be done then.
    fn grace_of<H: AgentHook>(&self) -> Duration {
        let grace = self.definition.react.interrupt_grace;
        match H::INDEX {
            Reply::INDEX => grace + grace / 2,
            Reasoning::INDEX | Compress::INDEX => grace + grace / 4,
            _ => grace,
        }
    }

    /// How many rounds the reply may have.
    pub(super) fn max_iters(&self) -> u32 {
        self.definition.react.max_iters.saturating_add(self.run_state().extra_iters)
    }

    /// Gives the reply more rounds.
    pub(crate) fn add_max_iters(&self, rounds: u32) {
        let mut run = self.run_state();
        run.extra_iters = run.extra_iters.saturating_add(rounds);
    }

    /// Ends the reply after the round that runs.
    pub(crate) fn request_end(&self) {
        self.run_state().end_requested = true;
    }

    /// Marks this hook's core as running; a second one at the same time is an error.
    pub(super) fn write<'a>(&self, flag: &'a AtomicBool, hook: &'static str) -> Result<Writing<'a>> {
        if flag.swap(true, Relaxed) {
            return Err(Error::new(ErrorKind::SecondWriter { hook }));
        }
        Ok(Writing(flag))
    }
}

/// Layers of a hook, outermost first.
pub(super) type Layers = Arc<[Listed<dyn Middleware>]>;

/// A chain that was started, with what is known about how far it got.
pub(super) struct Chain<H: AgentHook> {
    pub(super) frame: Arc<Frame<H>>,
    pub(super) running: Running<H>,
}

impl<H: AgentHook> Chain<H> {
    /// Runs it to its end. When the reply is interrupted, a chain whose core was not reached yet is dropped at once,
    /// another gets a while to end by itself. `None` when it was dropped.
    pub(super) async fn or_interrupt(self, scope: &ReplyScope) -> Option<Result<H::Output>> {
        let Self { frame, mut running } = self;
        if scope.cancel.is_none() {
            return Some(running.await);
        }
        tokio::select! {
            biased;
            result = &mut running => return Some(result),
            () = scope.interrupted() => {}
        }
        if !frame.core_was_entered() {
            return None;
        }
        tokio::time::timeout(scope.grace_of::<H>(), running).await.ok()
    }
}

/// Reads what comes out of a chain until its end, or until the reply was interrupted and the layers have had their
/// time.
pub(super) struct Patience<'a, F> {
    interrupted: Pin<&'a mut F>,
    until: Option<Pin<Box<Sleep>>>,
    grace: Duration,
}

/// What a patient reader got.
pub(super) enum Waited<T> {
    Item(Box<T>),
    End,
    GivenUp,
}

impl<'a, F: Future<Output = ()>> Patience<'a, F> {
    pub(super) fn new(scope: &ReplyScope, interrupted: Pin<&'a mut F>) -> Self {
        Self { interrupted, until: None, grace: scope.definition.react.interrupt_grace }
    }

    pub(super) async fn next<H: Streams>(
        &mut self,
        frame: &Frame<H>,
        items: &mut Items<H>,
    ) -> Waited<H::Item> {
        poll_fn(|cx| self.poll_next(frame, items, cx)).await
    }

    fn poll_next<H: Streams>(
        &mut self,
        frame: &Frame<H>,
        items: &mut Items<H>,
        cx: &mut Context<'_>,
    ) -> Poll<Waited<H::Item>> {
        if let Poll::Ready(item) = Pin::new(items).poll_next(cx) {
            return Poll::Ready(item.map_or(Waited::End, Waited::Item));
        }
        let until = match &mut self.until {
            Some(until) => until,
            None => {
                ready!(self.interrupted.as_mut().poll(cx));
                // A layer that waits before `next` has nothing to bring to an end.
                if !frame.core_was_entered() {
                    return Poll::Ready(Waited::GivenUp);
                }
                self.until.insert(Box::pin(tokio::time::sleep(self.grace)))
            }
        };
        until.as_mut().poll(cx).map(|()| Waited::GivenUp)
    }
}

/// A core that runs.
pub(super) struct Writing<'a>(&'a AtomicBool);

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.0.store(false, Relaxed);
    }
}

/// Closes a reply when it is dropped, at its end or half-way.
pub(super) struct ClosesReply(pub(super) Arc<ReplyScope>);

impl Drop for ClosesReply {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl fmt::Debug for ReplyScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyScope")
            .field("agent", &self.definition.name)
            .field("closed", &self.closed)
            .finish_non_exhaustive()
    }
}
