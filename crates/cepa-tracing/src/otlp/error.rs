//! What can go wrong with exporting.

use std::time::Duration;

use crate::SetupError;

/// Exporting cannot be set up, or has not got everything out. No message holds a header's value or a URL's query.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OtlpError {
    /// A variable of the environment, or a method of the builder, has a value that cannot be used.
    #[error("`{name}` {reason}")]
    Setting {
        /// The variable or the method.
        name: String,
        /// What it takes.
        reason: String,
    },
    /// The HTTP client cannot be set up.
    #[error("the HTTP client of the exporter cannot be set up: {reason}")]
    Client {
        /// What it said.
        reason: String,
    },
    /// The exporter refuses its settings.
    #[error("the exporter of {what} cannot be set up: {reason}")]
    Exporter {
        /// `spans` or `metrics`.
        what: &'static str,
        /// What it said.
        reason: String,
    },
    /// There can be one subscriber in a program.
    #[error(transparent)]
    Subscriber(#[from] SetupError),
    /// The collector did not take them, or not all.
    #[error("{what} did not reach the collector: {reason}")]
    NotSent {
        /// `spans` or `metrics`.
        what: &'static str,
        /// Why not.
        reason: String,
    },
    /// Spans ended faster than they could be sent.
    #[error("{count} spans were lost: {reason}")]
    Lost {
        /// How many, since it was told last.
        count: usize,
        /// Why, and what else went wrong.
        reason: String,
    },
    /// Sending took longer than it may.
    #[error("{what} did not reach the collector within {timeout:?}")]
    TimedOut {
        /// `spans` or `metrics`.
        what: &'static str,
        /// How long was waited.
        timeout: Duration,
    },
}

impl OtlpError {
    pub(super) fn setting(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Setting { name: name.into(), reason: reason.into() }
    }
}
