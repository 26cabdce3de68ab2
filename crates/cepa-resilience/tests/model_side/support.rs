//! What these tests share.

use std::{
    future::{Future, IntoFuture},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use cepa_core::{
    Agent, AgentBuilder, BoxFuture, ChatChunk, ChatModel, ChatResponse, ErrorType, InjectionConfig,
    ModelError, ModelOutlet, ModelRequest, ReplyCall, Result,
    testing::{Answer, EventLog},
};
use tokio::{task::JoinHandle, time::Instant};

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// An agent that is told nothing of time and tasks.
pub(crate) fn builder(model: &(impl ChatModel + Clone)) -> AgentBuilder {
    let mut injection = InjectionConfig::default();
    injection.inject_runtime_state = false;
    Agent::builder("Friday").model(model.clone()).injection_config(injection)
}

/// Fails the test where it would hang.
pub(crate) async fn within<T>(run: impl IntoFuture<Output = T>) -> T {
    match tokio::time::timeout(100 * 3600 * SECOND, run).await {
        Ok(output) => output,
        Err(_) => panic!("hangs"),
    }
}

/// The events of a reply, and how it ended.
pub(crate) async fn log(call: ReplyCall<'_>) -> EventLog {
    within(EventLog::of(call)).await
}

/// An answer that fails so at once.
pub(crate) fn fails(kind: ErrorType) -> Answer {
    Answer::new().fails(ModelError::new(kind, "no"))
}

/// The moments at which a model was asked, since its making.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    start: Instant,
    at: Arc<Mutex<Vec<Duration>>>,
}

impl Asked {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now(), at: Arc::default() }
    }

    pub(crate) fn note(&self) {
        self.at.lock().unwrap().push(self.start.elapsed());
    }

    pub(crate) fn at(&self) -> Vec<Duration> {
        self.at.lock().unwrap().clone()
    }

    /// The moments in whole seconds.
    pub(crate) fn seconds(&self) -> Vec<u64> {
        self.at().iter().map(Duration::as_secs).collect()
    }
}

/// A model that takes its time, and counts how many calls of it run at once.
#[derive(Clone, Debug)]
pub(crate) struct Busy {
    takes: Duration,
    running: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    /// The texts of the requests, in the order in which they came.
    said: Arc<Mutex<Vec<String>>>,
}

impl Busy {
    pub(crate) fn new(takes: Duration) -> Self {
        Self { takes, running: Arc::default(), most: Arc::default(), said: Arc::default() }
    }

    pub(crate) fn most(&self) -> usize {
        self.most.load(SeqCst)
    }

    pub(crate) fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }
}

/// Counts down however a call ends.
struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

impl ChatModel for Busy {
    fn name(&self) -> &str {
        "busy"
    }

    fn context_size(&self) -> u64 {
        32_768
    }

    fn call(&self, request: ModelRequest, out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
        Box::pin(async move {
            let now = self.running.fetch_add(1, SeqCst) + 1;
            let _running = Running(self.running.clone());
            self.most.fetch_max(now, SeqCst);
            let said = request.messages.last().and_then(|message| message.text()).unwrap_or_default();
            self.said.lock().unwrap().push(said);
            tokio::time::sleep(self.takes).await;
            out.emit(ChatChunk::text("Done.")).await;
            Ok(ChatResponse::streamed())
        })
    }
}

/// Runs so many agents at once, each with its number.
pub(crate) fn many<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    count: usize,
    run: impl Fn(usize) -> F,
) -> Vec<JoinHandle<T>> {
    (0..count).map(|number| tokio::spawn(run(number))).collect()
}

/// The most of these moments within any minute.
pub(crate) fn most_in_a_minute(at: &[Duration]) -> usize {
    let in_minute =
        |first: &Duration| at.iter().filter(|at| (*first..*first + 60 * SECOND).contains(at)).count();
    at.iter().map(in_minute).max().unwrap_or_default()
}
