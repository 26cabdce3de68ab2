//! Writing in the background: no reply waits for it, and nothing is lost silently.

mod open;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    fmt,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use cepa_core::{BoxFuture, Id};
use futures_util::FutureExt as _;
use tokio::{
    runtime::Handle,
    sync::{Notify, Semaphore},
};

use self::open::Open;

/// How many writes are made at once, unless told otherwise.
const AT_ONCE: usize = 16;
/// How many writes may be unfinished, unless told otherwise.
const UNFINISHED: usize = 1024;

/// A write, which says in the log what goes wrong with it.
pub(crate) type Write = BoxFuture<'static, ()>;

/// Of whom a write is, for the log.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    pub(crate) session: Option<Id>,
    pub(crate) user: Option<String>,
}

/// How many writes there may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// At once.
    pub(crate) at_once: usize,
    /// That wait, or are being made.
    pub(crate) unfinished: usize,
}

impl Bounds {
    /// The setting that is 0, by its name.
    pub(crate) fn zero(&self) -> Option<&'static str> {
        let bounds = [("writes_at_once", self.at_once), ("max_unfinished_writes", self.unfinished)];
        bounds.into_iter().find_map(|(name, bound)| (bound == 0).then_some(name))
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self { at_once: AT_ONCE, unfinished: UNFINISHED }
    }
}

/// The writes of a layer. Those of one lane are made one after the other, in their order; lanes beside each other. Each
/// lane has a task, which lives while there is something to write.
#[derive(Clone)]
pub(crate) struct Writes(Arc<Shared>);

struct Shared {
    service: &'static str,
    bounds: Bounds,
    places: Semaphore,
    queue: Mutex<Queue>,
    ended: Notify,
}

#[derive(Default)]
struct Queue {
    /// What waits. A lane that is here has a task.
    lanes: HashMap<String, VecDeque<(Open, Write)>>,
    /// The numbers of the writes that have not ended.
    open: BTreeSet<u64>,
    next: u64,
    /// How many came to nothing since this was last told.
    lost: u64,
}

/// Not all is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlushError {
    /// Writes were not done within the time. They go on.
    #[error("writes to memory are still pending after {limit:?}: flush again, or let them go")]
    Pending {
        /// How long was waited.
        limit: Duration,
    },
    /// Everything has ended, but some writes were never made or broke off: too many waited, the client panicked, or a
    /// runtime ended. Each is in the log. It is told once.
    #[error("{writes} writes to memory were dropped: the log says which, and why")]
    Lost {
        /// How many, since a flush last told.
        writes: u64,
    },
}

impl Writes {
    /// To a service of this name.
    pub(crate) fn new(service: &'static str, bounds: Bounds) -> Self {
        let places = Semaphore::new(bounds.at_once.min(Semaphore::MAX_PERMITS));
        Self(Arc::new(Shared { service, bounds, places, queue: Mutex::default(), ended: Notify::new() }))
    }

    /// Queues a write behind the others of its lane. When too many are unfinished, this one is dropped, and the log
    /// says so; also outside of a tokio runtime.
    pub(crate) fn push(&self, lane: String, origin: Origin, write: Write) {
        let Ok(runtime) = Handle::try_current() else {
            return self.0.lose(&origin, "there is no tokio runtime any more");
        };
        let mut queue = self.0.queue();
        if queue.open.len() >= self.0.bounds.unfinished {
            drop(queue);
            return self.0.lose(&origin, "too many others are unfinished");
        }
        let number = queue.next;
        queue.next += 1;
        queue.open.insert(number);
        let open = Open::new(self.0.clone(), number, origin);
        if let Some(waiting) = queue.lanes.get_mut(&lane) {
            return waiting.push_back((open, write));
        }
        queue.lanes.insert(lane.clone(), VecDeque::from([(open, write)]));
        drop(queue);
        runtime.spawn(Lane { shared: self.0.clone(), name: lane, is_over: false }.run());
    }

    /// Waits until what was queued before has ended.
    pub(crate) async fn flush(&self, limit: Duration) -> Result<(), FlushError> {
        let until = self.0.queue().next;
        let waiting = async {
            loop {
                let ended = self.0.ended.notified();
                // Whoever ends from here on is heard.
                if self.0.queue().open.first().is_none_or(|&number| number >= until) {
                    break;
                }
                ended.await;
            }
        };
        tokio::time::timeout(limit, waiting).await.map_err(|_| FlushError::Pending { limit })?;
        match std::mem::take(&mut self.0.queue().lost) {
            0 => Ok(()),
            writes => Err(FlushError::Lost { writes }),
        }
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that something is not written.
    fn lose(&self, origin: &Origin, reason: &str) {
        self.queue().lost += 1;
        let session = origin.session.as_ref().map(tracing::field::display);
        let (service, user) = (self.service, origin.user.as_deref());
        tracing::warn!(service, session, user, "a memory is not written: {reason}");
    }
}

/// The task of a lane.
struct Lane {
    shared: Arc<Shared>,
    name: String,
    is_over: bool,
}

impl Lane {
    async fn run(mut self) {
        while let Some((open, write)) = self.next() {
            // The semaphore is never closed.
            let place = self.shared.places.acquire().await;
            let result = AssertUnwindSafe(write).catch_unwind().await;
            drop(place);
            match result {
                Ok(()) => open.done(),
                Err(_) => open.lost("the client of the service panicked"),
            }
        }
    }

    /// What is next. Where nothing is, the lane is over: who comes now begins another.
    fn next(&mut self) -> Option<(Open, Write)> {
        let mut queue = self.shared.queue();
        let next = queue.lanes.get_mut(&self.name).and_then(VecDeque::pop_front);
        if next.is_none() {
            queue.lanes.remove(&self.name);
            self.is_over = true;
        }
        next
    }
}

impl Drop for Lane {
    /// The runtime has ended before its task: what waited is lost, and the next write begins another lane.
    fn drop(&mut self) {
        if !self.is_over {
            let waiting = self.shared.queue().lanes.remove(&self.name);
            drop(waiting);
        }
    }
}

impl fmt::Debug for Writes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writes")
            .field("service", &self.0.service)
            .field("bounds", &self.0.bounds)
            .finish_non_exhaustive()
    }
}
