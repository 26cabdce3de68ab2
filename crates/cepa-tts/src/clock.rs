//! The time that counts for deadlines.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use tokio::time::{Instant, sleep};

/// Time since a reply began, without the time in which its reader held everything up: nothing of a reply runs while
/// nobody reads it, and that is no fault of the speech model.
#[derive(Debug)]
pub(crate) struct Clock {
    start: Instant,
    /// Nanoseconds.
    held_up: AtomicU64,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now(), held_up: AtomicU64::new(0) }
    }

    /// The time that has passed.
    pub(crate) fn now(&self) -> Duration {
        self.start.elapsed().saturating_sub(Duration::from_nanos(self.held_up.load(Relaxed)))
    }

    /// Nothing could run since then.
    pub(crate) fn held_up_since(&self, since: Instant) {
        let nanos = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.held_up.fetch_add(nanos, Relaxed);
    }

    /// Waits until it is that late.
    pub(crate) async fn reaches(&self, time: Duration) {
        loop {
            let left = time.saturating_sub(self.now());
            if left.is_zero() {
                return;
            }
            sleep(left).await;
        }
    }
}
