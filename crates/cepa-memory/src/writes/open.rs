//! A write that has not ended.

use std::sync::Arc;

use super::{Origin, Shared};

/// Its place among the unfinished. However it ends, it is counted: who waits for it is told.
pub(super) struct Open {
    shared: Arc<Shared>,
    number: u64,
    origin: Origin,
    is_told: bool,
}

impl Open {
    pub(super) fn new(shared: Arc<Shared>, number: u64, origin: Origin) -> Self {
        Self { shared, number, origin, is_told: false }
    }

    /// It was made, or has failed and said so.
    pub(super) fn done(mut self) {
        self.is_told = true;
    }

    /// It broke off.
    pub(super) fn lost(mut self, reason: &str) {
        self.shared.lose(&self.origin, reason);
        self.is_told = true;
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.is_told {
            self.shared.lose(&self.origin, "the tokio runtime ended before it");
        }
        self.shared.queue().open.remove(&self.number);
        self.shared.ended.notify_waiters();
    }
}
