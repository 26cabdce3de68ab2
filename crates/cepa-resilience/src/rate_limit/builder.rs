//! Options of the rate limit.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use super::{Limits, Queue, RateLimit, Shared, Window};
use crate::OptionError;

/// Options of [`RateLimit`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct RateLimitBuilder {
    limits: Limits,
    expected_output_tokens: u64,
    max_wait: Duration,
    models: BTreeSet<String>,
}

impl RateLimitBuilder {
    pub(super) fn new() -> Self {
        Self {
            limits: Limits::default(),
            expected_output_tokens: 500,
            max_wait: Duration::from_secs(600),
            models: BTreeSet::new(),
        }
    }

    /// The most requests within any 60 seconds.
    pub fn requests_per_minute(mut self, requests: u64) -> Self {
        self.limits.requests = Some(requests);
        self
    }

    /// The most tokens, sent and written ones together, within any 60 seconds.
    pub fn tokens_per_minute(mut self, tokens: u64) -> Self {
        self.limits.tokens = Some(tokens);
        self
    }

    /// How many requests may go at once after a pause; further ones follow evenly. Without it, all requests of a minute
    /// may go at once.
    pub fn burst(mut self, requests: u64) -> Self {
        self.limits.burst = Some(requests);
        self
    }

    /// How many tokens an answer is reckoned at before it is there, where the request says no `max_tokens`: 500 by default.
    pub fn expected_output_tokens(mut self, tokens: u64) -> Self {
        self.expected_output_tokens = tokens;
        self
    }

    /// How long a call waits at most before it fails with [`WaitTooLong`](crate::WaitTooLong): 10 minutes by default.
    pub fn max_wait(mut self, wait: Duration) -> Self {
        self.max_wait = wait;
        self
    }

    /// The models whose requests count, by their names. Without it, all do.
    pub fn models<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.models.extend(names.into_iter().map(Into::into));
        self
    }

    /// Checks the options and builds the limit.
    ///
    /// # Errors
    /// No limit at all, one of nothing, a burst of more than a minute's requests, or a time that cannot be.
    pub fn build(self) -> Result<RateLimit, OptionError> {
        let Limits { requests, tokens, burst } = self.limits;
        if requests.is_none() && tokens.is_none() {
            let must_be = "given, or `tokens_per_minute` must";
            return Err(OptionError::new("requests_per_minute", "not given", must_be));
        }
        let counts = [("requests_per_minute", requests), ("tokens_per_minute", tokens), ("burst", burst)];
        for (option, count) in counts {
            OptionError::check_count(option, count.unwrap_or(1))?;
        }
        if let Some(burst) = burst
            && requests.is_none_or(|requests| burst > requests)
        {
            return Err(OptionError::new("burst", burst, "at most `requests_per_minute`"));
        }
        OptionError::check_time("max_wait", self.max_wait)?;
        Ok(RateLimit(Arc::new(Shared {
            limits: self.limits,
            expected_output_tokens: self.expected_output_tokens,
            max_wait: self.max_wait,
            models: self.models,
            window: Mutex::new(Window::default()),
            queue: Queue::default(),
        })))
    }
}
