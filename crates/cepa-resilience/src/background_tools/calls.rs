//! What runs in the background, and what it came to.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    future::Future,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use cepa_core::{CancelToken, Id, ToolResultState};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tracing::Instrument as _;

use super::output::Output;

/// The tool calls that run in the background, and the results that wait for a reply of their session.
///
/// The handle of a [`BackgroundTools`](super::BackgroundTools); clones are the same. To have an agent go on by itself when
/// a result has come, wait for it and start a reply without a message:
///
/// ```
/// use std::time::Duration;
/// use cepa_core::{Agent, Inputs, Result};
/// use cepa_resilience::BackgroundCalls;
///
/// async fn go_on(agent: &mut Agent, calls: &BackgroundCalls) -> Result<()> {
///     let session = agent.state()?.session_id.clone();
///     while calls.next_result(&session, Duration::from_secs(3600)).await {
///         agent.reply(Inputs::Nothing).await?;
///     }
///     Ok(())
/// }
/// # let _ = go_on;
/// ```
#[derive(Clone)]
pub struct BackgroundCalls(Arc<Shared>);

/// A tool call in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackgroundCall {
    /// The id of the task, by which it is stopped.
    pub id: Id,
    /// The tool.
    pub tool: String,
    /// The id of the tool call.
    pub call_id: Id,
    /// The session whose reply made it.
    pub session_id: Id,
}

/// Calls that have not ended within the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{running} tool call(s) still run in the background after {limit:?}: wait again, or stop them")]
#[non_exhaustive]
pub struct StillRunning {
    /// How many run.
    pub running: usize,
    /// How long was waited.
    pub limit: Duration,
}

struct Shared {
    table: Mutex<Table>,
    /// Some call was started or has ended.
    changed: Notify,
    slots: Arc<Semaphore>,
    max_results: usize,
}

#[derive(Default)]
struct Table {
    entries: BTreeMap<Id, Entry>,
    /// Those that have ended, oldest first.
    ended: VecDeque<Id>,
}

struct Entry {
    call: BackgroundCall,
    stop: CancelToken,
    /// The model has stopped it: it need not be told.
    told: bool,
    /// The session has crossed it off its list.
    crossed_off: bool,
    ended: Option<Ended>,
}

/// What a call came to.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) how: How,
    /// What it has sent, from its begin.
    pub(super) output: Output,
}

/// How a call ended.
#[derive(Debug)]
pub(super) enum How {
    Done(ToolResultState),
    /// An error that would have ended the reply.
    Failed(String),
    Stopped,
    TooLong,
    /// It broke off: a panic, or the end of its runtime.
    Broke,
}

/// What a session is to be told of a call.
pub(super) enum Told {
    Running,
    Ended(Ended),
    Already,
    Unknown,
}

/// What became of an attempt to stop a call.
pub(super) enum Stopping {
    Stops,
    HasEnded,
    Unknown,
}

impl BackgroundCalls {
    pub(super) fn new(max_running: usize, max_results: usize) -> Self {
        let slots = Arc::new(Semaphore::new(max_running.min(Semaphore::MAX_PERMITS)));
        Self(Arc::new(Shared { table: Mutex::default(), changed: Notify::new(), slots, max_results }))
    }

    /// The calls that run.
    pub fn running(&self) -> Vec<BackgroundCall> {
        self.0.lock().running(None).cloned().collect()
    }

    /// The calls of this session that run.
    pub fn running_in(&self, session: &Id) -> Vec<BackgroundCall> {
        self.0.lock().running(Some(session)).cloned().collect()
    }

    /// How many results wait for a reply of this session.
    pub fn results_in(&self, session: &Id) -> usize {
        self.0.lock().results(session)
    }

    /// Waits until no call of this session runs any more.
    ///
    /// # Errors
    /// Some still do after this time. They go on.
    pub async fn finished(&self, session: &Id, limit: Duration) -> Result<(), StillRunning> {
        self.none_runs(Some(session), limit).await
    }

    /// Waits until no call runs any more: for the end of the program.
    ///
    /// # Errors
    /// Some still do after this time. They go on.
    pub async fn all_finished(&self, limit: Duration) -> Result<(), StillRunning> {
        self.none_runs(None, limit).await
    }

    /// Waits until a result waits for a reply of this session. `false` when none can come any more, because no call of the
    /// session runs, or when none has come within this time.
    pub async fn next_result(&self, session: &Id, limit: Duration) -> bool {
        let settled = self.until(|table| {
            let results = table.results(session);
            (results > 0 || table.running(Some(session)).next().is_none()).then_some(results > 0)
        });
        tokio::time::timeout(limit, settled).await.unwrap_or(false)
    }

    /// Stops a call; its session is told. `false` when no call with this [id](BackgroundCall::id) runs.
    pub fn stop(&self, id: &Id) -> bool {
        matches!(self.0.lock().stop(id, None, false), Stopping::Stops)
    }

    /// Stops all calls of this session, which is told. Returns how many they are.
    pub fn stop_session(&self, session: &Id) -> usize {
        self.stop_all_of(Some(session))
    }

    /// Stops all calls; their sessions are told. Returns how many they are.
    pub fn stop_all(&self) -> usize {
        self.stop_all_of(None)
    }

    /// Stops all calls of this session and drops its results: for a session that ends for good.
    pub fn forget(&self, session: &Id) {
        let mut table = self.0.lock();
        for entry in table.entries.values().filter(|entry| entry.call.session_id == *session) {
            entry.stop.cancel();
        }
        table.entries.retain(|_, entry| entry.call.session_id != *session);
        let Table { entries, ended } = &mut *table;
        ended.retain(|id| entries.contains_key(id));
        drop(table);
        self.0.changed.notify_waiters();
    }

    fn stop_all_of(&self, session: Option<&Id>) -> usize {
        let mut table = self.0.lock();
        let ids: Vec<Id> = table.running(session).map(|call| call.id.clone()).collect();
        for id in &ids {
            table.stop(id, None, false);
        }
        ids.len()
    }

    async fn none_runs(&self, session: Option<&Id>, limit: Duration) -> Result<(), StillRunning> {
        let done = self.until(|table| table.running(session).next().is_none().then_some(()));
        match tokio::time::timeout(limit, done).await {
            Ok(()) => Ok(()),
            Err(_) => Err(StillRunning { running: self.0.lock().running(session).count(), limit }),
        }
    }

    /// Waits until this says something of the table.
    async fn until<T>(&self, mut look: impl FnMut(&Table) -> Option<T>) -> T {
        loop {
            let mut changed = pin!(self.0.changed.notified());
            // Before the look, so that no change is missed.
            changed.as_mut().enable();
            if let Some(found) = look(&self.0.lock()) {
                return found;
            }
            changed.await;
        }
    }

    /// A place to run in the background, when there is one: in the order of asking.
    pub(super) async fn slot(&self) -> Option<OwnedSemaphorePermit> {
        self.0.slots.clone().acquire_owned().await.ok()
    }

    /// Starts a task for a call. It is given what stops it, and where to say how it ended.
    pub(super) fn start<F>(&self, call: BackgroundCall, task: impl FnOnce(CancelToken, Ends) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (id, stop) = (call.id.clone(), CancelToken::new());
        let entry = Entry { call, stop: stop.clone(), told: false, crossed_off: false, ended: None };
        self.0.lock().entries.insert(id.clone(), entry);
        let ends = Ends { shared: self.0.clone(), id, ended: None };
        tokio::spawn(task(stop, ends).in_current_span());
        self.0.changed.notify_waiters();
    }

    /// Takes what this session is to be told of a call.
    pub(super) fn take(&self, id: &Id, session: &Id) -> Told {
        let mut table = self.0.lock();
        match table.entries.get_mut(id).filter(|entry| entry.call.session_id == *session) {
            None => return Told::Unknown,
            Some(entry) if entry.ended.is_none() => {
                entry.crossed_off = entry.told;
                return if entry.told { Told::Already } else { Told::Running };
            }
            Some(_) => {}
        }
        table.ended.retain(|ended| ended != id);
        match table.entries.remove(id) {
            Some(Entry { ended: Some(ended), told: false, .. }) => Told::Ended(ended),
            _ => Told::Already,
        }
    }

    /// Takes what else there is for this session. Whoever waits for [results](Self::next_result) would be told of it for
    /// ever otherwise.
    pub(super) fn take_rest(&self, session: &Id) -> Vec<(BackgroundCall, Ended)> {
        let mut table = self.0.lock();
        let Table { entries, ended } = &mut *table;
        let mut rest = Vec::new();
        ended.retain(|id| {
            if entries.get(id).is_none_or(|entry| entry.call.session_id != *session) {
                return true;
            }
            if let Some(Entry { call, told: false, ended: Some(result), .. }) = entries.remove(id) {
                rest.push((call, result));
            }
            false
        });
        rest
    }

    /// Stops a call of this session on behalf of the model.
    pub(super) fn stop_by_model(&self, id: &Id, session: &Id) -> Stopping {
        self.0.lock().stop(id, Some(session), true)
    }
}

impl Table {
    fn running(&self, session: Option<&Id>) -> impl Iterator<Item = &BackgroundCall> {
        let running = self.entries.values().filter(|entry| entry.ended.is_none()).map(|entry| &entry.call);
        running.filter(move |call| session.is_none_or(|session| call.session_id == *session))
    }

    fn results(&self, session: &Id) -> usize {
        let ended = self.entries.values().filter(|entry| entry.ended.is_some() && !entry.told);
        ended.filter(|entry| entry.call.session_id == *session).count()
    }

    fn stop(&mut self, id: &Id, session: Option<&Id>, told: bool) -> Stopping {
        let Some(entry) = self.entries.get_mut(id) else { return Stopping::Unknown };
        if session.is_some_and(|session| entry.call.session_id != *session) {
            return Stopping::Unknown;
        }
        if entry.ended.is_some() {
            return Stopping::HasEnded;
        }
        entry.told |= told;
        entry.stop.cancel();
        Stopping::Stops
    }

    fn end(&mut self, id: &Id, ended: Ended, max_results: usize) {
        // A session that is forgotten wants nothing.
        let Some(entry) = self.entries.get_mut(id) else { return };
        if entry.crossed_off {
            self.entries.remove(id);
            return;
        }
        entry.ended = Some(ended);
        self.ended.push_back(id.clone());
        while self.ended.len() > max_results {
            let Some(oldest) = self.ended.pop_front() else { break };
            if let Some(Entry { call, .. }) = self.entries.remove(&oldest) {
                tracing::warn!(tool = %call.tool, session = %call.session_id, max_results, "a tool's result is given up: too many wait");
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Table> {
        // Every change is whole by itself.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a task says how its call ended. One that says nothing broke off.
pub(super) struct Ends {
    shared: Arc<Shared>,
    id: Id,
    ended: Option<Ended>,
}

impl Ends {
    pub(super) fn with(mut self, ended: Ended) {
        self.ended = Some(ended);
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        let ended = self.ended.take();
        let ended = ended.unwrap_or_else(|| Ended { how: How::Broke, output: Output::new(0) });
        self.shared.lock().end(&self.id, ended, self.shared.max_results);
        self.shared.changed.notify_waiters();
    }
}

impl fmt::Debug for BackgroundCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.0.lock();
        f.debug_struct("BackgroundCalls")
            .field("running", &table.running(None).count())
            .field("results", &table.ended.len())
            .finish_non_exhaustive()
    }
}
