//! [`ModelError`].

use std::time::Duration;

use super::BoxError;
use crate::message::ErrorType;

/// A model request that failed.
///
/// Messages name what the server said, never a key.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ModelError {
    /// What kind of failure it is.
    pub kind: ErrorType,
    /// What happened, in words for a person; the server's own words where it said some.
    pub message: String,
    /// How long the server asked to wait before the next try.
    pub retry_after: Option<Duration>,
    /// Whether the same request may work later.
    pub retryable: bool,
    /// The error underneath.
    #[source]
    pub source: Option<BoxError>,
}

impl ModelError {
    /// A failure of this kind. Rate limits, upstream and connection failures count as retryable.
    pub fn new(kind: ErrorType, message: impl Into<String>) -> Self {
        let retryable = matches!(kind, ErrorType::RateLimit | ErrorType::Upstream | ErrorType::Connection);
        Self { kind, message: message.into(), retry_after: None, retryable, source: None }
    }

    /// Adds the error underneath.
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Adds how long to wait before the next try.
    pub fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }
}
