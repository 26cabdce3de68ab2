//! Where a model sends what it streams.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{ChatChunk, ChatResponse, ChatUsage};
use crate::chain::{Emit, IntoItem, Outlet};

/// Where a model sends what it streams, and says what it has spent so far.
#[derive(Clone, Debug)]
pub struct ModelOutlet {
    chunks: Outlet<ChatChunk>,
    reported: Reported,
}

/// What a model has said so far that it has spent, for itself and for the layers around it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reported(Arc<Mutex<Option<ChatUsage>>>);

impl Reported {
    pub(crate) fn set(&self, usage: Option<ChatUsage>) {
        *self.lock() = usage;
    }

    pub(crate) fn get(&self) -> Option<ChatUsage> {
        self.lock().clone()
    }

    pub(crate) fn take(&self) -> Option<ChatUsage> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<ChatUsage>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ModelOutlet {
    pub(crate) fn new(chunks: Outlet<ChatChunk>, reported: Reported) -> Self {
        Self { chunks, reported }
    }

    /// Sends a chunk outward and waits until it was taken. Empty chunks may be left out.
    pub fn emit(&self, chunk: impl IntoItem<ChatChunk>) -> Emit<'_, ChatChunk> {
        self.chunks.emit(chunk)
    }

    /// Says what was spent up to now, so that it is known also when the request is interrupted. A later report, or
    /// the response's own usage, replaces it.
    pub fn report_usage(&self, usage: ChatUsage) {
        self.reported.set(Some(usage));
    }

    /// How many chunks went out so far: a request is not to be repeated once one did.
    pub fn sent(&self) -> usize {
        self.chunks.sent()
    }

    /// Fills in the usage that was reported, where the response has none.
    pub(crate) fn complete(&self, response: &mut ChatResponse) {
        let reported = self.reported.take();
        response.usage = response.usage.take().or(reported);
    }
}
