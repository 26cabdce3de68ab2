//! What may go wrong.

use std::time::Duration;

use cepa_core::BoxError;

use crate::{
    ServerError,
    troubles::{Failure, Kind},
};

/// ReMe did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReMeError {
    /// A setting that cannot be used.
    #[error("{0}")]
    Settings(String),
    /// The service, or the way to it.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A job takes too long.
    #[error("ReMe's job `{job}` has not ended within {limit:?}")]
    Deadline {
        /// The job.
        job: String,
        /// How long was waited.
        limit: Duration,
    },
    /// A job that is needed is not there. Waiting does not help.
    #[error(
        "ReMe has no job `{job}`: add it to the jobs of the service's configuration, or check the service's URL"
    )]
    NoSuchJob {
        /// The job.
        job: String,
    },
    /// A job reports that it failed.
    #[error("ReMe's job `{job}` failed: {words}")]
    Failed {
        /// The job.
        job: String,
        /// What it said.
        words: String,
    },
    /// Another transport's error.
    #[error(transparent)]
    Other(BoxError),
}

impl ReMeError {
    /// As the log tells it.
    pub(crate) fn failure(&self) -> Failure<'_> {
        let kind = match self {
            Self::Server(error) => Kind::from(error),
            Self::Deadline { .. } => Kind::Deadline,
            _ => Kind::Own,
        };
        Failure { error: self, kind }
    }
}
