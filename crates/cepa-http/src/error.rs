//! [`ServerError`].

use std::time::Duration;

/// A service did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The settings cannot be used.
    #[error("{0}")]
    Settings(String),
    /// The service is not reached, or breaks off.
    #[error("{service} at {url} is not reached: {reason}")]
    Unreachable {
        /// The service.
        service: &'static str,
        /// Where it should be.
        url: String,
        /// What the network said.
        reason: String,
    },
    /// It takes too long.
    #[error("{service} has not answered within {limit:?}")]
    Deadline {
        /// The service.
        service: &'static str,
        /// How long was waited.
        limit: Duration,
    },
    /// It says no.
    #[error("{service} refuses ({status}): {words}")]
    Refused {
        /// The service.
        service: &'static str,
        /// The HTTP status.
        status: u16,
        /// What it said.
        words: String,
    },
    /// It says more than is read.
    #[error("{service} answers with more than {limit} bytes")]
    TooLarge {
        /// The service.
        service: &'static str,
        /// The most bytes of an answer.
        limit: usize,
    },
    /// What it says is not what its interface promises.
    #[error("{service} answers with something else than was expected: {reason}")]
    Nonsense {
        /// The service.
        service: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

impl ServerError {
    /// Whether the same may succeed later: the service is not reached, takes too long, is busy, or fails inside.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Deadline { .. } => true,
            Self::Refused { status, .. } => matches!(status, 408 | 425 | 429 | 500..),
            Self::Settings(_) | Self::TooLarge { .. } | Self::Nonsense { .. } => false,
        }
    }
}
