//! What the log says of a service that does not work.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use super::ReMeError;

/// Which jobs do not work. The log says it once and not with every turn, and says when they work again.
#[derive(Debug, Default)]
pub(super) struct Troubles(Mutex<BTreeMap<&'static str, Trouble>>);

#[derive(Debug)]
struct Trouble {
    is_of_the_service: bool,
    times: u64,
}

impl Troubles {
    /// Logs how a job went. `so` is what does not happen where it failed.
    pub(super) fn log(&self, job: &'static str, so: &str, failure: Option<&ReMeError>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(error) = failure else {
            if let Some(Trouble { times, .. }) = known.remove(job) {
                tracing::info!(job, failures = times, "ReMe works again");
            }
            return;
        };
        let is_of_the_service = error.is_of_the_service();
        let is_known = known.contains_key(job)
            || is_of_the_service && known.values().any(|trouble| trouble.is_of_the_service);
        known.entry(job).or_insert(Trouble { is_of_the_service, times: 0 }).times += 1;
        if is_known {
            tracing::debug!(job, %error, "{so}");
        } else {
            tracing::warn!(job, %error, "{so}; further failures are logged as debug until it works again");
        }
    }
}
