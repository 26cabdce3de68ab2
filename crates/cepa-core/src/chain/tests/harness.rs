//! Cores and callers for the tests.

use std::{
    future::Future,
    sync::{Arc, Weak},
    time::Duration,
};

use crate::{
    agent::ReplyScope,
    chain::{AgentHook, BoxFuture, Core, Cx, Frame, Hook, Items, ModelCall, Next, Outlet, Reply, Streams},
    error::Result,
    event::{AgentEvent, EventKind},
    fields::Fields,
    message::Msg,
    middleware::{Middleware, ReplyInput},
    model::{ChatChunk, ChatResponse, ModelRequest},
    state::AgentState,
};

/// The layers of a test, outermost first.
pub(super) type Layers = Vec<Arc<dyn Middleware>>;

/// A closure in the middle of the onion.
struct FnCore<F>(F);

impl<H, F, Fut> Core<H> for FnCore<F>
where
    H: Hook,
    F: Fn(Cx<H>, H::Input) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<H::Output>> + Send + 'static,
{
    fn run(self: Arc<Self>, cx: Cx<H>, input: H::Input) -> BoxFuture<'static, Result<H::Output>> {
        Box::pin((self.0)(cx, input))
    }
}

pub(super) fn core<H, F, Fut>(run: F) -> Arc<dyn Core<H>>
where
    H: Hook,
    F: Fn(Cx<H>, H::Input) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<H::Output>> + Send + 'static,
{
    Arc::new(FnCore(run))
}

/// Fails the test where it would hang.
#[track_caller]
pub(super) fn within<F: Future>(run: F) -> impl Future<Output = F::Output> {
    let caller = std::panic::Location::caller();
    async move {
        match tokio::time::timeout(Duration::from_secs(60), run).await {
            Ok(output) => output,
            Err(_) => panic!("hangs: {caller}"),
        }
    }
}

/// One call of a hook, with what is needed to see what is left of it.
pub(super) struct Rig<H: AgentHook> {
    pub(super) scope: Arc<ReplyScope>,
    frame: Arc<Frame<H>>,
}

impl<H: AgentHook> Rig<H> {
    pub(super) fn new(layers: &[Arc<dyn Middleware>], core: Arc<dyn Core<H>>) -> Self {
        Self::with_state(layers, core, AgentState::new())
    }

    pub(super) fn with_state(
        layers: &[Arc<dyn Middleware>],
        core: Arc<dyn Core<H>>,
        state: AgentState,
    ) -> Self {
        let scope = ReplyScope::for_tests(layers, state);
        let frame = scope.frame(core);
        Self { scope, frame }
    }

    fn next(&self) -> Next<H> {
        Next::root(self.frame.clone(), Outlet::unheard(None))
    }

    /// Calls the hook with nobody listening.
    pub(super) async fn unheard(&self, input: H::Input) -> Result<H::Output> {
        self.next().run(input).await
    }

    /// Calls the hook as a stream and forgets everything else about it.
    pub(super) fn into_stream(self, input: H::Input) -> (Items<H>, Remains<H>)
    where
        H: Streams,
    {
        let remains = Remains(Arc::downgrade(&self.frame));
        (self.next().stream(input), remains)
    }
}

/// What is left of a call that everybody has let go of.
pub(super) struct Remains<H: AgentHook>(Weak<Frame<H>>);

impl<H: AgentHook> Remains<H> {
    /// Waits until nothing holds the call any more: no future, no task, no context.
    #[track_caller]
    pub(super) fn vanish(self) -> impl Future<Output = ()> {
        within(async move {
            while self.0.strong_count() > 0 {
                tokio::task::yield_now().await;
            }
        })
    }
}

/// Marks items and producers, to see that none outlives its call.
#[derive(Clone)]
pub(super) struct Token(Arc<str>);

impl Token {
    pub(super) fn new() -> Self {
        Self("token".into())
    }

    /// An event that holds the token.
    pub(super) fn event(&self) -> AgentEvent {
        AgentEvent::new(EventKind::Custom { name: self.0.clone(), value: Fields::new() })
    }

    /// Waits until the test alone holds the token.
    #[track_caller]
    pub(super) fn alone(&self) -> impl Future<Output = ()> + '_ {
        within(async {
            while Arc::strong_count(&self.0) > 1 {
                tokio::task::yield_now().await;
            }
        })
    }
}

/// A core that emits so many events, and lets other tasks run after each.
pub(super) fn emits(count: usize, token: &Token) -> Arc<dyn Core<Reply>> {
    let token = token.clone();
    core(move |cx: Cx<Reply>, _| {
        let token = token.clone();
        async move {
            for _ in 0..count {
                cx.emit(token.event()).await;
                tokio::task::yield_now().await;
            }
            Ok(done())
        }
    })
}

pub(super) fn done() -> Msg {
    Msg::assistant("tested", "done")
}

/// Reads a reply to its end: how many events came out. Nothing may be left of it.
pub(super) async fn count_events(layers: &[Arc<dyn Middleware>], core: Arc<dyn Core<Reply>>) -> usize {
    let (mut items, remains) = Rig::new(layers, core).into_stream(ReplyInput::default());
    let mut count = 0;
    while items.next().await.is_some() {
        count += 1;
    }
    items.finish().await.expect("no layer fails");
    remains.vanish().await;
    count
}

pub(super) fn request() -> ModelRequest {
    ModelRequest::new([Msg::user("user", "hi")])
}

/// A core that streams these texts.
pub(super) fn says<const N: usize>(texts: [&'static str; N]) -> Arc<dyn Core<ModelCall>> {
    core(move |cx: Cx<ModelCall>, _| async move {
        for text in texts {
            cx.emit(ChatChunk::text(text)).await;
        }
        Ok(ChatResponse::streamed())
    })
}

/// What a model call looks like from outside: the text of each item, then the result.
pub(super) async fn ask(
    layers: &[Arc<dyn Middleware>],
    core: Arc<dyn Core<ModelCall>>,
) -> (Vec<String>, Result<ChatResponse>) {
    let (mut items, _) = Rig::new(layers, core).into_stream(request());
    let mut texts = Vec::new();
    while let Some(chunk) = items.next().await {
        texts.push(chunk.texts().collect());
    }
    (texts, items.finish().await)
}
