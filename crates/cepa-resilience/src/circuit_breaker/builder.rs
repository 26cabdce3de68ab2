//! Options of the circuit breaker.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use cepa_core::{Error, ErrorKind};

use super::{
    CircuitBreaker, Circuits, Shared,
    circuit::{MOST_CALLS, Ratio, Rules},
};
use crate::{
    OptionError,
    timeout::is_reply_over,
    when::{When, is_retryable},
};

/// Options of [`CircuitBreaker`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct CircuitBreakerBuilder {
    consecutive: Option<u32>,
    ratio: Option<Ratio>,
    open_for: Duration,
    probes: u32,
    successes: u32,
    models: Option<When>,
    tools: Tools,
}

/// Which tools have circuits.
#[derive(Clone, Debug)]
pub(super) enum Tools {
    Named(BTreeSet<String>),
    All,
}

impl Tools {
    pub(super) fn any(&self) -> bool {
        !matches!(self, Self::Named(names) if names.is_empty())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        match self {
            Self::Named(names) => names.contains(name),
            Self::All => true,
        }
    }
}

fn is_failure(error: &Error) -> bool {
    is_retryable(error) || matches!(error.kind(), ErrorKind::Timeout { .. }) && !is_reply_over(error)
}

impl CircuitBreakerBuilder {
    pub(super) fn new() -> Self {
        Self {
            consecutive: None,
            ratio: None,
            open_for: Duration::from_secs(30),
            probes: 1,
            successes: 1,
            models: Some(When::new(is_failure)),
            tools: Tools::Named(BTreeSet::new()),
        }
    }

    /// Opens after so many failures in a row: 5 by default, unless there is a ratio.
    pub fn consecutive_failures(mut self, failures: u32) -> Self {
        self.consecutive = Some(failures);
        self
    }

    /// Opens when this part of the calls (above 0, at most 1) has failed within the time, of at least so many.
    pub fn failure_ratio(mut self, failed: f64, of_calls: u32, within: Duration) -> Self {
        self.ratio = Some(Ratio { failed, of_calls, within });
        self
    }

    /// How long it stays open before it is tried again: 30 seconds by default.
    pub fn open_for(mut self, time: Duration) -> Self {
        self.open_for = time;
        self
    }

    /// How many calls at a time try whether it is well again: one by default. Set a [`Timeout`](crate::Timeout) inside, so
    /// that none of them hangs for ever; one that does gives its place to another after `open_for`.
    pub fn probes(mut self, probes: u32) -> Self {
        self.probes = probes;
        self
    }

    /// How many of them must succeed until it is closed: one by default.
    pub fn successes(mut self, successes: u32) -> Self {
        self.successes = successes;
        self
    }

    /// Which of a model's errors are failures: by default those that say that the same request may work later, and time
    /// limits that were reached. Others say nothing.
    pub fn when(mut self, test: impl Fn(&Error) -> bool + Send + Sync + 'static) -> Self {
        self.models = Some(When::new(test));
        self
    }

    /// Leaves models alone: for tools only.
    pub fn without_models(mut self) -> Self {
        self.models = None;
        self
    }

    /// Gives these tools circuits as well.
    pub fn tools<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        if let Tools::Named(tools) = &mut self.tools {
            tools.extend(names.into_iter().map(Into::into));
        }
        self
    }

    /// Gives every tool a circuit as well.
    pub fn all_tools(mut self) -> Self {
        self.tools = Tools::All;
        self
    }

    /// Checks the options and builds the layer.
    ///
    /// # Errors
    /// Numbers of 0, a ratio that is none, times that cannot be, or neither models nor tools.
    pub fn build(self) -> Result<CircuitBreaker, OptionError> {
        if self.models.is_none() && !self.tools.any() {
            return Err(OptionError::new("tools", "not given", "given where there are no models"));
        }
        let consecutive = self.consecutive.or(if self.ratio.is_none() { Some(5) } else { None });
        OptionError::check_count("consecutive_failures", consecutive.unwrap_or(1).into())?;
        if let Some(ratio) = &self.ratio {
            if !(ratio.failed > 0.0 && ratio.failed <= 1.0) {
                return Err(OptionError::new("failure_ratio", ratio.failed, "above 0 and at most 1"));
            }
            if !(1..=MOST_CALLS as u32).contains(&ratio.of_calls) {
                return Err(OptionError::new("failure_ratio", ratio.of_calls, "of 1 to 10000 calls"));
            }
            OptionError::check_time("failure_ratio", ratio.within)?;
        }
        OptionError::check_time("open_for", self.open_for)?;
        OptionError::check_count("probes", self.probes.into())?;
        OptionError::check_count("successes", self.successes.into())?;
        Ok(CircuitBreaker(Arc::new(Shared {
            rules: Rules {
                consecutive,
                ratio: self.ratio,
                open_for: self.open_for,
                probes: self.probes,
                successes: self.successes,
            },
            models: self.models,
            tools: self.tools,
            of_models: Mutex::new(Circuits::new()),
            of_tools: Mutex::new(Circuits::new()),
        })))
    }
}
