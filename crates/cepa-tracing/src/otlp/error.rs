//! What can go wrong with exporting.

use std::time::Duration;

/// Exporting cannot be set up, or has not got everything out. No message holds a header's value.
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
    #[error(
        "the program has a subscriber already: add the layer of `otlp().layer()` to it and leave `install()` out"
    )]
    SubscriberInstalled,
    /// The collector did not take the last of them.
    #[error("{what} did not reach the collector: {reason}")]
    NotSent {
        /// `spans` or `metrics`.
        what: &'static str,
        /// Why not.
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
