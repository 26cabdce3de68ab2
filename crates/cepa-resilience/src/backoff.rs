//! How long to wait between attempts.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};

use crate::OptionError;

/// How long to wait between attempts: longer each time, and not all callers at the same moment.
///
/// ```
/// use std::time::Duration;
/// use cepa_resilience::Backoff;
///
/// // 1 s, 3 s, 9 s, …, at most 30 s, each up to twice as long by chance.
/// let backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30)).factor(3.0);
/// # let _ = backoff;
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    first: Duration,
    most: Duration,
    factor: f32,
    jitter: bool,
}

impl Default for Backoff {
    /// From half a second, doubled each time, to half a minute; with jitter.
    fn default() -> Self {
        Self::new(Duration::from_millis(500), Duration::from_secs(30))
    }
}

impl Backoff {
    /// Waits so long after the first attempt, twice as long after each further one, and no longer than `most`; with
    /// jitter.
    #[must_use]
    pub const fn new(first: Duration, most: Duration) -> Self {
        Self { first, most, factor: 2.0, jitter: true }
    }

    /// By what each wait is longer than the one before: 2 by default.
    #[must_use]
    pub const fn factor(mut self, factor: f32) -> Self {
        self.factor = factor;
        self
    }

    /// Whether a random part of up to its own length is added to each wait, so that callers that failed together do not
    /// come back together. `true` by default.
    #[must_use]
    pub const fn jitter(mut self, jitter: bool) -> Self {
        self.jitter = jitter;
        self
    }

    /// Whether such waits can be.
    pub(crate) fn check(&self) -> Result<(), OptionError> {
        OptionError::check_time("backoff", self.first)?;
        OptionError::check_time("backoff", self.most)?;
        if self.first > self.most {
            let value = format_args!("{:?} at first and {:?} at most", self.first, self.most).to_string();
            return Err(OptionError::new("backoff", value, "no longer at first than at most"));
        }
        if !self.factor.is_finite() || self.factor < 1.0 {
            return Err(OptionError::new("backoff.factor", self.factor, "a finite number of at least 1"));
        }
        Ok(())
    }

    /// The waits of one call, from the first on.
    pub(crate) fn waits(&self) -> Waits {
        let builder = ExponentialBuilder::new()
            .with_min_delay(self.first)
            .with_max_delay(self.most)
            .with_factor(self.factor)
            .without_max_times();
        Waits((if self.jitter { builder.with_jitter() } else { builder }).build())
    }
}

/// The waits of one call. They never end: the caller counts its attempts.
#[derive(Debug)]
pub(crate) struct Waits(ExponentialBackoff);

impl Waits {
    /// The next wait; at least as long as the other side asked for.
    pub(crate) fn next(&mut self, asked: Option<Duration>) -> Duration {
        let own = self.0.next().unwrap_or_default();
        asked.map_or(own, |asked| own.max(asked))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::Backoff;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn waits_double_up_to_the_longest_and_heed_what_was_asked() {
        let mut waits = Backoff::new(SECOND, 5 * SECOND).jitter(false).waits();
        let seen: Vec<_> = (0..5).map(|_| waits.next(None).as_secs()).collect();
        assert_eq!(seen, [1, 2, 4, 5, 5]);
        assert_eq!(waits.next(Some(60 * SECOND)), 60 * SECOND);
        assert_eq!(waits.next(Some(SECOND)), 5 * SECOND);
    }

    #[test]
    fn waits_that_cannot_be_say_why() {
        let error = |backoff: Backoff| backoff.check().unwrap_err().to_string();
        assert_eq!(
            error(Backoff::new(Duration::ZERO, SECOND)),
            "`backoff` is 0ns, but must be longer than 0 s and at most a year"
        );
        assert_eq!(
            error(Backoff::new(2 * SECOND, SECOND)),
            "`backoff` is 2s at first and 1s at most, but must be no longer at first than at most"
        );
        assert_eq!(
            error(Backoff::default().factor(0.5)),
            "`backoff.factor` is 0.5, but must be a finite number of at least 1"
        );
        assert!(Backoff::new(SECOND, Duration::MAX).check().is_err());
        assert!(Backoff::default().check().is_ok());
    }

    proptest! {
        #[test]
        fn a_wait_is_never_shorter_than_the_first_nor_longer_than_twice_the_longest(
            first in 1_u64..10_000, more in 0_u64..100_000, factor in 1.0_f32..10.0, rounds in 1_usize..30,
        ) {
            let (first, most) = (Duration::from_millis(first), Duration::from_millis(first + more));
            let backoff = Backoff::new(first, most).factor(factor);
            prop_assert!(backoff.check().is_ok());
            let mut waits = backoff.waits();
            for _ in 0..rounds {
                let wait = waits.next(None);
                prop_assert!(wait >= first && wait <= 2 * most, "{wait:?}");
            }
        }
    }
}
