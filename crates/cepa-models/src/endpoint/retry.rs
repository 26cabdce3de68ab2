//! When to try again, and how long to wait before.

use std::time::{Duration, SystemTime};

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use cepa_core::ModelError;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

use super::{Patience, Settings};

/// The longest wait that the model's own backoff comes to.
const LONGEST_BACKOFF: Duration = Duration::from_secs(8);

/// The further attempts of one call.
pub(crate) struct Retries {
    delays: ExponentialBackoff,
    attempts: u32,
    longest_wait: Duration,
}

impl Retries {
    pub(super) fn new(settings: &Settings) -> Self {
        let delays = ExponentialBuilder::new()
            .with_jitter()
            .with_min_delay(settings.retry_delay)
            .with_max_delay(LONGEST_BACKOFF.max(settings.retry_delay))
            .with_max_times(settings.max_retries as usize)
            .build();
        Self { delays, attempts: 1, longest_wait: settings.max_retry_wait }
    }

    /// How often the request was sent again.
    pub(crate) fn resends(&self) -> u32 {
        self.attempts - 1
    }

    /// Waits before the next attempt, or hands the error back when there is none: the error is not of the kind that
    /// goes away, the attempts are used up, or the server wants a wait that is too long.
    pub(crate) async fn wait(
        &mut self,
        mut error: ModelError,
        patience: &mut Patience,
    ) -> Result<(), ModelError> {
        match self.next_wait(&error, patience.left()) {
            Some(wait) => {
                // Without the error's words: they are the server's, and may repeat what it was asked.
                let (attempt, error_type) = (self.attempts, error.kind.as_str());
                tracing::warn!(
                    attempt,
                    error_type,
                    ?wait,
                    "an attempt of a model request failed: trying again"
                );
                self.attempts += 1;
                patience.sleep(wait).await;
                Ok(())
            }
            None => {
                if self.attempts > 1 {
                    error.message = format!("{} (attempt {})", error.message, self.attempts);
                }
                Err(error)
            }
        }
    }

    fn next_wait(&mut self, error: &ModelError, left: Duration) -> Option<Duration> {
        if !error.retryable {
            return None;
        }
        let delay = self.delays.next()?;
        let wait = match error.retry_after {
            // Everyone who was told the same time should not come back at the same moment.
            Some(asked) if asked <= self.longest_wait => asked + delay / 4,
            Some(_) => return None,
            None => delay,
        };
        (wait < left).then_some(wait)
    }
}

/// What `retry-after-ms` (OpenAI) or `Retry-After` (RFC 9110: seconds or a date) asks for. A date counts from the
/// server's own `Date` where there is one, so that clocks need not agree.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |name: &str| text(name)?.parse().ok().filter(|number: &f64| *number >= 0.0);
    if let Some(millis) = number("retry-after-ms") {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    if let Some(seconds) = number(RETRY_AFTER.as_str()) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = |name: &str| httpdate::parse_http_date(text(name)?).ok();
    let then = date(RETRY_AFTER.as_str())?;
    let now = date(DATE.as_str()).unwrap_or_else(SystemTime::now);
    Some(then.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use cepa_core::ErrorType;

    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn reads_seconds_milliseconds_and_dates() {
        let secs = |pairs: &[(&'static str, &'static str)]| {
            retry_after(&headers(pairs)).map(|wait| wait.as_secs_f64())
        };
        assert_eq!(secs(&[("retry-after", "7")]), Some(7.0));
        assert_eq!(secs(&[("retry-after", "0.5")]), Some(0.5));
        assert_eq!(secs(&[("retry-after", "7"), ("retry-after-ms", "1500")]), Some(1.5));
        let date = "Fri, 01 Jan 2100 00:00:30 GMT";
        assert_eq!(secs(&[("retry-after", date), ("date", "Fri, 01 Jan 2100 00:00:10 GMT")]), Some(20.0));
        assert!(secs(&[("retry-after", date)]).unwrap() > 1e6);
        assert_eq!(secs(&[("retry-after", "Sat, 01 Jan 2000 00:00:00 GMT")]), Some(0.0));
        assert_eq!(secs(&[("retry-after", "soon")]), None);
        assert_eq!(secs(&[("retry-after", "-1")]), None);
        assert_eq!(secs(&[("retry-after", "1e300")]), None);
        assert_eq!(secs(&[]), None);
    }

    fn waits(error: &ModelError, left: Duration) -> Vec<Duration> {
        let settings = Settings { max_retries: 2, ..Settings::default() };
        let mut retries = Retries::new(&settings);
        std::iter::from_fn(|| retries.next_wait(error, left)).collect()
    }

    #[test]
    fn waits_longer_each_time_and_as_long_as_asked() {
        let hour = Duration::from_secs(3600);
        let error = ModelError::new(ErrorType::Upstream, "down");
        let own = waits(&error, hour);
        assert_eq!(own.len(), 2);
        assert!(own[0] >= Duration::from_millis(500) && own[1] >= Duration::from_secs(1), "{own:?}");

        let asked = Duration::from_secs(20);
        let told = waits(&error.with_retry_after(Some(asked)), hour);
        assert!(told.iter().all(|wait| *wait >= asked && *wait < asked * 2), "{told:?}");
    }

    #[test]
    fn gives_up_when_waiting_is_no_use() {
        let hour = Duration::from_secs(3600);
        let limit = || ModelError::new(ErrorType::RateLimit, "slow down");
        assert_eq!(waits(&ModelError::new(ErrorType::InvalidRequest, "bad"), hour), []);
        assert_eq!(waits(&limit().with_retry_after(Some(hour)), hour), []);
        assert_eq!(
            waits(&limit().with_retry_after(Some(Duration::from_secs(5))), Duration::from_secs(2)),
            []
        );
    }
}
