//! Where a model sends what it streams.

use super::{ChatChunk, ChatResponse, ChatUsage};
use crate::{
    chain::{Emit, IntoItem, Outlet, Reported},
    error::Error,
};

/// Where a model sends what it streams, and says what it has spent so far.
#[derive(Clone, Debug)]
pub struct ModelOutlet {
    chunks: Outlet<ChatChunk>,
    reported: Reported,
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
        self.reported.report(usage);
    }

    /// How many chunks went out so far: a request is not to be repeated once one did.
    pub fn sent(&self) -> usize {
        self.chunks.sent()
    }

    /// The request has ended with this response, whose usage is what was reported where it has none.
    pub(crate) fn complete(&self, response: &mut ChatResponse) {
        response.usage = self.reported.told(response.usage.take());
    }

    /// The request has ended with this error.
    pub(crate) fn failed(&self, error: Error) -> Error {
        let usage = self.reported.told(error.usage().cloned());
        error.with_usage(usage)
    }
}
