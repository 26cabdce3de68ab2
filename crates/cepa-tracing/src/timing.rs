//! The time of hooks and tools as a layer.

mod timings;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cepa_core::{
    Acting, ActingInput, ChatResponse, CheckPermission, Compress, CompressInput, Cx, Middleware, ModelCall,
    ModelRequest, Msg, Next, PermissionDecision, PermissionRequest, Reasoning, ReasoningInput, Reply,
    ReplyInput, Result, SystemPrompt, ToolResponse, chain::AgentHook, middleware, serde_json,
};
// The agent's own clock, of its time limits and delays: where a test has it paused, these times are exact.
use tokio::time::Instant;
use tracing::Level;

pub use self::timings::{Timing, Timings};
use crate::end::{run_and_tell, to_fields};

/// Measures how long each hook and each tool of a reply takes: [`Timings`].
///
/// They are told three times:
///
/// - [`TimingMiddleware::of`] reads what was measured so far, from any hook of the same reply;
/// - an event of the name [`cepa.timing`](Self::EVENT) goes out right before `REPLY_END`, or at the end of a call that
///   has none (a pause, an error): [`Timings::of_event`] reads it;
/// - at the end of the call, an event of the `tracing` crate on the level *debug* and of the target
///   `cepa_tracing::timing` has them as JSON in its field `hooks`.
///
/// The two that come at the end are also there for a reply that was interrupted, that failed, or that nobody listened to
/// any more; the agent's observers get the event then. A reply that goes on after a pause has new figures for each call.
///
/// Put it outermost, so that the other layers are inside of what is measured. One is enough for an agent: it keeps
/// nothing in the session, but has a key, so that a second one is refused when the agent is built.
///
/// ```
/// use std::time::Duration;
/// use cepa_core::{Agent, testing::{Answer, EventLog, ScriptedModel}};
/// use cepa_tracing::{TimingMiddleware, Timings};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Answer::new().delay(Duration::from_secs(2)).text("Hello")]);
/// let mut agent = Agent::builder("Friday").model(model).middleware(TimingMiddleware::new()).build()?;
///
/// let log = EventLog::of(agent.reply("Hi")).await;
/// let timings = log.events().iter().find_map(Timings::of_event).ok_or("no timings")?;
/// assert_eq!(timings.on_model_call.calls, 1);
/// assert_eq!(timings.on_model_call.total, Duration::from_secs(2));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct TimingMiddleware {}

impl TimingMiddleware {
    /// The name of the event that tells the times.
    pub const EVENT: &'static str = "cepa.timing";

    /// A layer that measures.
    pub const fn new() -> Self {
        Self {}
    }

    /// What has ended so far of the reply at hand. What still runs, such as the reply itself, is not in it.
    pub fn of<H: AgentHook>(cx: &Cx<H>) -> Timings {
        cx.scratch().get::<Recorder>().map(|recorder| recorder.lock().timings.clone()).unwrap_or_default()
    }
}

#[middleware]
impl Middleware for TimingMiddleware {
    async fn on_reply(&self, cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        let recorder = Recorder::of(&cx);
        let _logged = Logged(recorder.clone());
        let clock = Clock::start(&cx, |timings| &mut timings.on_reply);
        let began = clock.began;
        run_and_tell(cx, input, next, Self::EVENT, move |_| {
            let mut timings = recorder.lock().timings.clone();
            timings.on_reply.add(began.elapsed());
            to_fields(&timings)
        })
        .await
    }

    async fn on_reasoning(
        &self,
        cx: Cx<Reasoning>,
        input: ReasoningInput,
        next: Next<Reasoning>,
    ) -> Result<Option<Msg>> {
        let _clock = Clock::start(&cx, |timings| &mut timings.on_reasoning);
        next.run(input).await
    }

    async fn on_model_call(
        &self,
        cx: Cx<ModelCall>,
        request: ModelRequest,
        next: Next<ModelCall>,
    ) -> Result<ChatResponse> {
        let _clock = Clock::start(&cx, |timings| &mut timings.on_model_call);
        next.run(request).await
    }

    async fn on_check_permission(
        &self,
        cx: Cx<CheckPermission>,
        request: PermissionRequest,
        next: Next<CheckPermission>,
    ) -> Result<PermissionDecision> {
        let _clock = Clock::start(&cx, |timings| &mut timings.on_check_permission);
        next.run(request).await
    }

    async fn on_acting(
        &self,
        cx: Cx<Acting>,
        input: ActingInput,
        next: Next<Acting>,
    ) -> Result<ToolResponse> {
        let mut clock = Clock::start(&cx, |timings| &mut timings.on_acting);
        clock.tool = Some(input.tool_call.name.clone());
        next.run(input).await
    }

    async fn on_compress_context(
        &self,
        cx: Cx<Compress>,
        input: CompressInput,
        next: Next<Compress>,
    ) -> Result<()> {
        let _clock = Clock::start(&cx, |timings| &mut timings.on_compress_context);
        next.run(input).await
    }

    async fn on_system_prompt(&self, cx: Cx<SystemPrompt>, prompt: String) -> Result<String> {
        let recorder = Recorder::of(&cx);
        let mut recorded = recorder.lock();
        recorded.end_prompt();
        recorded.prompt_began = Some(Instant::now());
        drop(recorded);
        Ok(prompt)
    }
}

/// What is measured in one reply, shared by its hooks.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Recorded>>);

#[derive(Default)]
struct Recorded {
    timings: Timings,
    /// The system prompt is being built.
    prompt_began: Option<Instant>,
}

impl Recorder {
    fn of<H: AgentHook>(cx: &Cx<H>) -> Self {
        // `update` takes the value out meanwhile: not where calls run side by side.
        cx.scratch().get().unwrap_or_else(|| cx.scratch().update(|recorder: &mut Self| recorder.clone()))
    }

    fn lock(&self) -> MutexGuard<'_, Recorded> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recorded {
    fn end_prompt(&mut self) {
        if let Some(began) = self.prompt_began.take() {
            self.timings.on_system_prompt.add(began.elapsed());
        }
    }
}

/// Runs until it is dropped: at the end of what it measures, however that comes.
struct Clock {
    recorder: Recorder,
    began: Instant,
    place: fn(&mut Timings) -> &mut Timing,
    tool: Option<Arc<str>>,
}

impl Clock {
    fn start<H: AgentHook>(cx: &Cx<H>, place: fn(&mut Timings) -> &mut Timing) -> Self {
        let recorder = Recorder::of(cx);
        recorder.lock().end_prompt();
        Self { recorder, began: Instant::now(), place, tool: None }
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        let timings = &mut self.recorder.lock().timings;
        (self.place)(timings).add(took);
        if let Some(tool) = self.tool.take() {
            timings.tools.entry(tool).or_default().add(took);
        }
    }
}

/// Tells the times to `tracing` at the end of a call.
struct Logged(Recorder);

impl Drop for Logged {
    fn drop(&mut self) {
        let mut recorded = self.0.lock();
        recorded.end_prompt();
        if tracing::enabled!(target: "cepa_tracing::timing", Level::DEBUG) {
            let timings = recorded.timings.clone();
            drop(recorded);
            if let Ok(hooks) = serde_json::to_string(&timings) {
                tracing::debug!(target: "cepa_tracing::timing", %hooks);
            }
        }
    }
}
