//! What a layer is given beside its input: the agent, its state, and the way out.

use std::{
    ops::{Deref, DerefMut},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
};

use serde::{Serialize, de::DeserializeOwned};

use super::{Acting, AgentHook, Core, Emit, Hook, IntoItem, Outlet, Streams, hook::Listed, meter::Node};
use crate::{
    agent::{Onion, ReplyScope, Scratch, StateLock},
    error::{Error, Result},
    id::Id,
    middleware::MiddlewareKey,
    model::ChatModel,
    state::AgentState,
    tool::Toolkit,
};

/// One call of a hook: what is the same for all its layers.
pub(crate) struct Frame<H: Hook> {
    pub(crate) scope: H::Scope,
    pub(crate) core: Arc<dyn Core<H>>,
    pub(crate) layers: Arc<[Listed<H::Layer>]>,
    cores_entered: AtomicUsize,
    cores_left: AtomicUsize,
    detached: AtomicBool,
}

impl<H: Hook> Frame<H> {
    pub(crate) fn new(scope: H::Scope, core: Arc<dyn Core<H>>, layers: Arc<[Listed<H::Layer>]>) -> Arc<Self> {
        let (cores_entered, cores_left) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let detached = AtomicBool::new(false);
        Arc::new(Self { scope, core, layers, cores_entered, cores_left, detached })
    }

    pub(super) fn enter_core(self: &Arc<Self>) -> CoreGuard<H> {
        self.cores_entered.fetch_add(1, Relaxed);
        CoreGuard(self.clone())
    }

    /// Whether an interrupt of the reply is no longer about this call.
    pub(crate) fn is_detached(&self) -> bool {
        self.detached.load(Relaxed)
    }

    /// Whether the chain has got as far as its core.
    pub(crate) fn core_was_entered(&self) -> bool {
        self.cores_entered.load(Relaxed) > 0
    }
}

/// Notes that the core is at its end, however it got there.
pub(super) struct CoreGuard<H: Hook>(Arc<Frame<H>>);

impl<H: Hook> Drop for CoreGuard<H> {
    fn drop(&mut self) {
        self.0.cores_left.fetch_add(1, Relaxed);
    }
}

/// What a layer is given beside its input: the agent, its state, the reply's typed context, and the way out.
///
/// Cheap to clone and `'static`. When the reply is over, state access gives [`Error`] *reply over* and `emit` does
/// nothing, so a clone kept in a background task is harmless.
pub struct Cx<H: Hook> {
    frame: Arc<Frame<H>>,
    out: Outlet<H::Item>,
    /// Index in the hook's list; its length for the core.
    layer: usize,
    /// The nearest meter around, in a model call.
    meter: Option<Arc<Node>>,
}

/// The layer index of whoever calls the chain.
const OUTSIDE: usize = usize::MAX;

impl<H: Hook> Clone for Cx<H> {
    fn clone(&self) -> Self {
        Self {
            frame: self.frame.clone(),
            out: self.out.clone(),
            layer: self.layer,
            meter: self.meter.clone(),
        }
    }
}

impl<H: Hook> std::fmt::Debug for Cx<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cx").field("hook", &H::NAME).field("layer", &self.layer).finish_non_exhaustive()
    }
}

impl<H: Hook> Cx<H> {
    pub(super) fn outermost(frame: Arc<Frame<H>>, out: Outlet<H::Item>) -> Self {
        Self { frame, out, layer: OUTSIDE, meter: None }
    }

    /// The context of the next layer inward.
    pub(super) fn inner(self) -> Self {
        Self { layer: self.layer.wrapping_add(1), ..self }
    }

    pub(super) fn layer(&self) -> usize {
        self.layer
    }

    pub(super) fn layers_inside(&self) -> usize {
        self.frame.layers.len().saturating_sub(self.layer.wrapping_add(1))
    }

    /// This layer's entry in the hook's list; `None` for the core.
    pub(crate) fn listed(&self) -> Option<&Listed<H::Layer>> {
        self.frame.layers.get(self.layer)
    }

    pub(crate) fn frame(&self) -> &Arc<Frame<H>> {
        &self.frame
    }

    pub(crate) fn outlet(&self) -> &Outlet<H::Item> {
        &self.out
    }

    pub(super) fn outlet_mut(&mut self) -> &mut Outlet<H::Item> {
        &mut self.out
    }

    pub(super) fn meter(&self) -> Option<&Arc<Node>> {
        self.meter.as_ref()
    }

    pub(super) fn meter_mut(&mut self) -> &mut Option<Arc<Node>> {
        &mut self.meter
    }

    pub(crate) fn scope(&self) -> &H::Scope {
        &self.frame.scope
    }
}

impl<H: Streams> Cx<H> {
    /// Sends one item outward and waits until its reader has dealt with it and comes for the next one. Accepts the item
    /// or a box of it.
    ///
    /// The future answers `false` when nobody listens or a layer outside dropped the item in a shared tap.
    pub fn emit(&self, item: impl IntoItem<H::Item>) -> Emit<'_, H::Item> {
        self.out.emit(item)
    }

    /// How many items have gone out of this call so far, those that nobody took included. A retry shows nothing
    /// twice while this does not change.
    pub fn sent(&self) -> usize {
        self.out.sent()
    }
}

impl<H: AgentHook> Frame<H> {
    /// Waits until the reply is interrupted and this call with it.
    pub(crate) async fn interrupted(&self) {
        self.scope.interrupted().await;
        if self.is_detached() {
            std::future::pending::<()>().await;
        }
    }
}

impl Cx<Acting> {
    /// Takes this tool call out of what an interrupt of the reply ends: for a layer that lets it go on in a task of its
    /// own after it has answered for it. The tool and the layers inside see no interrupt from then on; who ends the call
    /// is up to the layer. It does not keep the reply open.
    ///
    /// ```
    /// use cepa_core::{Acting, ActingInput, Cx, Next, Result, ToolResponse};
    ///
    /// /// Lets every call run by itself, and tells nobody how it ended.
    /// async fn on_acting(cx: Cx<Acting>, input: ActingInput, next: Next<Acting>) -> Result<ToolResponse> {
    ///     let running = next.stream(input);
    ///     cx.detach();
    ///     tokio::spawn(running.finish());
    ///     Ok(ToolResponse::text("It runs in the background."))
    /// }
    /// # let _ = on_acting;
    /// ```
    pub fn detach(&self) {
        self.frame.detached.store(true, Relaxed);
    }

    /// Whether a layer has [detached](Self::detach) this call: limits of the reply are no longer about it.
    pub fn is_detached(&self) -> bool {
        self.frame.is_detached()
    }
}

impl<H: AgentHook> Cx<H> {
    /// The agent's name.
    pub fn agent_name(&self) -> &str {
        self.scope().agent_name()
    }

    /// The agent's own model, whatever a layer routed this reply to.
    pub fn model(&self) -> &Arc<dyn ChatModel> {
        self.scope().model()
    }

    /// The agent's tools.
    pub fn toolkit(&self) -> &Toolkit {
        self.scope().toolkit()
    }

    /// The agent's layers, outermost first.
    pub fn onion(&self) -> Onion {
        self.scope().onion()
    }

    /// The id of this reply: of its events and of its message. Also known before the reply is begun by `next.run` of
    /// the outermost `on_reply`, while the state still holds the reply before.
    ///
    /// # Errors
    /// As [`state`](Self::state).
    pub fn reply_id(&self) -> Result<Id> {
        self.scope().reply_id()
    }

    /// What the caller gave to this reply by `.with(value)`.
    ///
    /// ```
    /// # use cepa_core::{Cx, Reasoning};
    /// struct Tenant(&'static str);
    /// # fn in_a_hook(cx: Cx<Reasoning>) {
    /// let tenant = cx.context::<Tenant>().map_or("none", |tenant| tenant.0);
    /// # let _ = tenant; }
    /// ```
    pub fn context<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.scope().context()
    }

    /// What layers share during this reply; never saved.
    pub fn scratch(&self) -> &Scratch {
        self.scope().scratch()
    }

    /// Whether the reply was interrupted. A layer that works for long outside of `next` may look at it; one that
    /// only waits is dropped.
    pub fn is_interrupted(&self) -> bool {
        self.scope().is_interrupted() && !self.frame.is_detached()
    }

    /// Waits until the reply is interrupted; for ever where nothing can do that. For a layer that works beside `next`,
    /// in a `select!` with what it reads: it notices at once, also while the model hangs.
    ///
    /// ```
    /// # use cepa_core::{Cx, Reply, ReplyInput, Result, Msg, Next};
    /// /// Tells the user at once; what is inside ends as it does.
    /// async fn on_reply(cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
    ///     let mut items = next.stream(input);
    ///     loop {
    ///         tokio::select! {
    ///             () = cx.interrupted() => break,
    ///             event = items.next() => match event {
    ///                 Some(event) => _ = cx.emit(event).await,
    ///                 None => break,
    ///             },
    ///         }
    ///     }
    ///     // Stop what runs beside the reply here.
    ///     items.forward(&cx).await
    /// }
    /// # let _ = on_reply;
    /// ```
    pub async fn interrupted(&self) {
        self.frame.interrupted().await;
    }

    /// Gives the reply at hand more rounds than the agent's limit, in this call of it.
    pub fn add_max_iters(&self, rounds: u32) {
        self.scope().add_max_iters(rounds);
    }

    /// The session's state, locked. The guard cannot be held across an `await`: that does not compile.
    ///
    /// # Errors
    /// *Reply over* when the reply has ended, *reentrant* when this thread holds the state already.
    pub fn state(&self) -> Result<StateGuard<'_>> {
        self.scope().state().map(StateGuard)
    }

    /// This layer's own place in the store, under its [`MiddlewareKey`]: saved with the state.
    pub fn my_state(&self) -> MyState<'_> {
        MyState { scope: self.scope(), key: self.listed().and_then(|listed| listed.key.as_ref()) }
    }
}

/// The session's state, locked.
///
/// It is not `Send`, so that it cannot be held across an `await` of a hook.
#[derive(Debug)]
pub struct StateGuard<'a>(pub(crate) StateLock<'a>);

impl Deref for StateGuard<'_> {
    type Target = AgentState;
    fn deref(&self) -> &AgentState {
        &self.0
    }
}

impl DerefMut for StateGuard<'_> {
    fn deref_mut(&mut self) -> &mut AgentState {
        &mut self.0
    }
}

/// A layer's own place in the store.
///
/// The value is decoded on first use, kept decoded, and encoded when the state is saved.
#[derive(Clone, Copy)]
pub struct MyState<'a> {
    scope: &'a ReplyScope,
    key: Option<&'a MiddlewareKey>,
}

impl std::fmt::Debug for MyState<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MyState").field("key", &self.key).finish_non_exhaustive()
    }
}

impl MyState<'_> {
    /// Changes the value in place; it starts as `T::default()`.
    ///
    /// # Errors
    /// When what is stored does not decode as `T` (it is left as it is), when the layer has no key, when the
    /// reply is over, or when this thread holds the state already.
    pub fn update<T, R>(&self, change: impl FnOnce(&mut T) -> R) -> Result<R>
    where
        T: Serialize + DeserializeOwned + Default + Send + 'static,
    {
        let key = self.key.ok_or_else(Error::no_middleware_key)?;
        Ok(self.scope.state()?.middle_context.update(key, change)?)
    }

    /// A copy of the value, or `T::default()`.
    ///
    /// # Errors
    /// As [`MyState::update`].
    pub fn get<T>(&self) -> Result<T>
    where
        T: Serialize + DeserializeOwned + Default + Clone + Send + 'static,
    {
        self.update(|value: &mut T| value.clone())
    }

    /// Takes the value out of the session, if there is one.
    ///
    /// # Errors
    /// As [`MyState::update`]; what does not decode stays where it is.
    pub fn take<T>(&self) -> Result<Option<T>>
    where
        T: DeserializeOwned + Clone + Send + 'static,
    {
        let key = self.key.ok_or_else(Error::no_middleware_key)?;
        let mut state = self.scope.state()?;
        let value = state.middle_context.get(key)?;
        if value.is_some() {
            state.middle_context.remove(key);
        }
        Ok(value)
    }

    /// Replaces the value, whatever is stored now.
    ///
    /// # Errors
    /// As [`MyState::update`], but for decoding.
    pub fn set<T>(&self, value: T) -> Result<()>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        let key = self.key.ok_or_else(Error::no_middleware_key)?;
        self.scope.state()?.middle_context.set(key.clone(), value);
        Ok(())
    }
}
