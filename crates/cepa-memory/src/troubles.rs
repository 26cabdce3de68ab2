//! What the log says of a service that does not work.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Mutex, PoisonError},
};

use cepa_http::ServerError;

/// What does not work. The log says it once and not with every turn, and says when it works again.
#[derive(Debug)]
pub(crate) struct Troubles {
    service: &'static str,
    known: Mutex<BTreeMap<&'static str, Trouble>>,
}

/// How something failed.
pub(crate) struct Failure<'a> {
    pub(crate) error: &'a dyn fmt::Display,
    pub(crate) kind: Kind,
}

/// What kind of failure it is. Of those that are the service's, one is told for all that it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Unreachable,
    Deadline,
    /// It is in trouble itself, or lets nobody in.
    Refused(u16),
    Nonsense,
    /// Of nothing but what was tried.
    Own,
}

impl From<&ServerError> for Kind {
    fn from(error: &ServerError) -> Self {
        match error {
            ServerError::Unreachable { .. } => Self::Unreachable,
            ServerError::Deadline { .. } => Self::Deadline,
            ServerError::Refused { status: status @ (401 | 403 | 429 | 500..), .. } => Self::Refused(*status),
            ServerError::Nonsense { .. } => Self::Nonsense,
            _ => Self::Own,
        }
    }
}

/// Failures of one thing since it last worked.
#[derive(Debug)]
struct Trouble {
    /// As it failed last.
    now: Kind,
    /// The kinds that were told of.
    told: Vec<Kind>,
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
        let Some(Failure { error, kind }) = failure else {
            if let Some(Trouble { times, .. }) = known.remove(what).filter(|trouble| !trouble.told.is_empty())
            {
                tracing::info!(service, what, failures = times, "it works again");
            }
            return;
        };
        let of_another = |(&other, trouble): (&&str, &Trouble)| {
            other != what && kind != Kind::Own && trouble.now == kind && trouble.told.contains(&kind)
        };
        let is_known_by_another = known.iter().any(of_another);
        let trouble = known.entry(what).or_insert(Trouble { now: kind, told: Vec::new(), times: 0 });
        trouble.now = kind;
        trouble.times += 1;
        if is_known_by_another || trouble.told.contains(&kind) {
            tracing::debug!(service, what, %error, "{so}");
        } else {
            trouble.told.push(kind);
            tracing::warn!(service, what, %error, "{so}; more of this kind is logged as debug until it works again");
        }
    }
}

#[cfg(test)]
mod tests {
    use cepa_core::testing::Logged;

    use super::*;

    #[test]
    fn a_failure_hides_no_other_kind_of_failure_and_none_of_another_thing_for_good() {
        let warnings = Logged::warnings("cepa_memory");
        let troubles = Troubles::new("test");
        let fails = |what, kind| troubles.log(what, "so", Some(Failure { error: &"error", kind }));
        let told = |what, kind| {
            fails(what, kind);
            warnings.take().len()
        };
        assert_eq!(told("search", Kind::Deadline), 1);
        assert_eq!(told("write", Kind::Deadline), 0, "the service is slow, and that is known");
        assert_eq!(told("write", Kind::Own), 1, "a full disk is something else");
        assert_eq!(told("write", Kind::Own), 0);
        assert_eq!(told("search", Kind::Own), 1, "what is a thing's own is told for each");
        assert_eq!(told("search", Kind::Refused(401)), 1);
        troubles.log("search", "so", None);
        assert_eq!(told("write", Kind::Deadline), 1, "the search works again, the write was never told of");
        troubles.log("write", "so", None);
        assert_eq!(told("write", Kind::Deadline), 1);
    }
}
