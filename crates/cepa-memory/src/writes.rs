//! Writing in the background: no reply waits for it, and nothing is lost silently.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use cepa_core::BoxFuture;
use tokio::sync::{
    mpsc::{Sender, channel},
    oneshot,
};

/// How many writes may wait.
const WAITING: usize = 256;

/// A write, which says in the log what goes wrong with it.
pub(crate) type Write = BoxFuture<'static, ()>;

enum Job {
    Write(Write),
    Flush(oneshot::Sender<()>),
}

/// The writes of a layer. They are done one after the other, in their order, by a task that lives while there are some.
#[derive(Clone)]
pub(crate) struct Writes {
    service: &'static str,
    queue: Arc<Mutex<Option<Sender<Job>>>>,
}

/// Writes that were not done within the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("writes to memory are still pending after {limit:?}: flush again, or let them go")]
#[non_exhaustive]
pub struct Pending {
    /// How long was waited.
    pub limit: Duration,
}

impl Writes {
    /// To a service of this name.
    pub(crate) fn new(service: &'static str) -> Self {
        Self { service, queue: Arc::default() }
    }

    /// Queues a write. When too many wait, this one is dropped, and the log says so.
    ///
    /// It must be called inside of a tokio runtime.
    pub(crate) fn push(&self, write: Write) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        // The task ends with its runtime: the next write starts another.
        let running = match queue.take().filter(|running| !running.is_closed()) {
            Some(running) => running,
            None => start(),
        };
        if running.try_send(Job::Write(write)).is_err() {
            let service = self.service;
            tracing::warn!(service, waiting = WAITING, "a memory is not written: too many writes wait");
        }
        *queue = Some(running);
    }

    /// Waits until what was queued before is written, or has failed.
    pub(crate) async fn flush(&self, limit: Duration) -> Result<(), Pending> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(queue) = queue else { return Ok(()) };
        let waiting = async {
            let (done, flushed) = oneshot::channel();
            if queue.send(Job::Flush(done)).await.is_ok() {
                // An error is the end of the task, and so of what it had to do.
                _ = flushed.await;
            }
        };
        tokio::time::timeout(limit, waiting).await.map_err(|_| Pending { limit })
    }
}

/// Starts the task. It ends when what is queued is written and nothing more can come.
fn start() -> Sender<Job> {
    let (queue, mut jobs) = channel(WAITING);
    tokio::spawn(async move {
        while let Some(job) = jobs.recv().await {
            match job {
                Job::Write(write) => write.await,
                Job::Flush(done) => _ = done.send(()),
            }
        }
    });
    queue
}

impl fmt::Debug for Writes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writes").field("service", &self.service).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(log: &Arc<Mutex<Vec<u32>>>, number: u32, time: Duration) -> Write {
        let log = log.clone();
        Box::pin(async move {
            tokio::time::sleep(time).await;
            log.lock().unwrap().push(number);
        })
    }

    #[tokio::test(start_paused = true)]
    async fn writes_keep_their_order_and_flush_waits_for_them() {
        let (writes, log) = (Writes::new("test"), Arc::default());
        writes.push(note(&log, 1, Duration::from_secs(5)));
        writes.push(note(&log, 2, Duration::ZERO));
        assert_eq!(
            writes.flush(Duration::from_secs(1)).await,
            Err(Pending { limit: Duration::from_secs(1) })
        );
        assert!(log.lock().unwrap().is_empty());
        writes.flush(Duration::from_secs(10)).await.unwrap();
        assert_eq!(*log.lock().unwrap(), [1, 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_queued_is_written_after_the_layer_is_gone() {
        let log = Arc::default();
        let writes = Writes::new("test");
        writes.push(note(&log, 1, Duration::from_secs(5)));
        drop(writes);
        tokio::time::sleep(Duration::from_secs(6)).await;
        assert_eq!(*log.lock().unwrap(), [1]);
    }

    #[tokio::test(start_paused = true)]
    async fn too_many_are_dropped_and_pushing_never_waits() {
        let (writes, log) = (Writes::new("test"), Arc::default());
        for number in 0..2 * WAITING as u32 {
            writes.push(note(&log, number, Duration::ZERO));
        }
        writes.flush(Duration::from_secs(10)).await.unwrap();
        // The task had no chance yet.
        assert_eq!(log.lock().unwrap().len(), WAITING);
    }

    #[test]
    fn another_runtime_gets_a_task_of_its_own() {
        let (writes, log) = (Writes::new("test"), Arc::default());
        for number in [1, 2] {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            runtime.block_on(async {
                writes.push(note(&log, number, Duration::ZERO));
                writes.flush(Duration::from_secs(10)).await.unwrap();
            });
        }
        assert_eq!(*log.lock().unwrap(), [1, 2]);
    }
}
