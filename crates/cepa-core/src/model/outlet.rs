//! Where a model sends what it streams.

use std::sync::{Arc, Mutex, PoisonError};

use super::{ChatChunk, ChatResponse, ChatUsage};
use crate::chain::{Emit, IntoItem, Outlet};

/// Where a model sends what it streams, and says what it has spent so far.
#[derive(Clone, Debug)]
pub struct ModelOutlet {
    chunks: Outlet<ChatChunk>,
    usage: Arc<Mutex<Option<ChatUsage>>>,
}

impl ModelOutlet {
    pub(crate) fn new(chunks: Outlet<ChatChunk>) -> Self {
        Self { chunks, usage: Arc::default() }
    }

    /// Sends a chunk outward and waits until it was taken. Empty chunks may be left out.
    pub fn emit(&self, chunk: impl IntoItem<ChatChunk>) -> Emit<'_, ChatChunk> {
        self.chunks.emit(chunk)
    }

    /// Says what was spent up to now, so that it is known also when the request is interrupted. A later report, or
    /// the response's own usage, replaces it.
    pub fn report_usage(&self, usage: ChatUsage) {
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner) = Some(usage);
    }

    /// How many chunks went out so far: a request is not to be repeated once one did.
    pub fn sent(&self) -> usize {
        self.chunks.sent()
    }

    /// Fills in the usage that was reported, where the response has none.
    pub(crate) fn complete(&self, response: &mut ChatResponse) {
        if response.usage.is_none() {
            response.usage = self.reported();
        }
    }

    /// Takes the usage that was reported.
    pub(crate) fn reported(&self) -> Option<ChatUsage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
