//! What the log says of a service that does not work.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Mutex, PoisonError},
};

/// What does not work. The log says it once and not with every turn, and says when it works again.
#[derive(Debug)]
pub(crate) struct Troubles {
    service: &'static str,
    known: Mutex<BTreeMap<&'static str, Trouble>>,
}

/// How something failed.
pub(crate) struct Failure<'a> {
    pub(crate) error: &'a dyn fmt::Display,
    /// All of the service is in trouble, not only this.
    pub(crate) is_of_the_service: bool,
}

#[derive(Debug)]
struct Trouble {
    is_of_the_service: bool,
    times: u64,
}

impl Troubles {
    pub(crate) const fn new(service: &'static str) -> Self {
        Self { service, known: Mutex::new(BTreeMap::new()) }
    }

    /// Logs how something went. `so` is what does not happen where it failed.
    pub(crate) fn log(&self, what: &'static str, so: &str, failure: Option<Failure<'_>>) {
        let service = self.service;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Failure { error, is_of_the_service }) = failure else {
            if let Some(Trouble { times, .. }) = known.remove(what) {
                tracing::info!(service, what, failures = times, "it works again");
            }
            return;
        };
        let is_known = known.contains_key(what)
            || is_of_the_service && known.values().any(|trouble| trouble.is_of_the_service);
        known.entry(what).or_insert(Trouble { is_of_the_service, times: 0 }).times += 1;
        if is_known {
            tracing::debug!(service, what, %error, "{so}");
        } else {
            tracing::warn!(service, what, %error, "{so}; further failures are logged as debug until it works again");
        }
    }
}
