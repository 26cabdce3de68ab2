//! How long a call waits for its server.

use std::{fmt, time::Duration};

use tokio::time::{Instant, timeout};

/// What is left of the time that a call may wait for its server. Only waiting for the server counts, not the time
/// that a reader takes for what has come.
#[derive(Debug)]
pub(crate) struct Patience {
    idle: Duration,
    total: Duration,
    left: Duration,
}

/// A wait that was too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Impatient {
    Idle(Duration),
    Total(Duration),
}

impl fmt::Display for Impatient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle(limit) => write!(f, "the server sent nothing for {limit:?} (`idle_timeout`)"),
            Self::Total(limit) => write!(f, "the server was not done after {limit:?} (`timeout`)"),
        }
    }
}

impl Patience {
    pub(super) fn new(idle: Duration, total: Duration) -> Self {
        Self { idle, total, left: total }
    }

    /// What is left of the whole.
    pub(crate) fn left(&self) -> Duration {
        self.left
    }

    /// From now on no wait may be longer than this.
    pub(crate) fn shorten(&mut self, idle: Duration) {
        self.idle = self.idle.min(idle);
    }

    /// Waits, but not too long.
    pub(super) async fn wait<F: Future>(&mut self, server: F) -> Result<F::Output, Impatient> {
        let began = Instant::now();
        let result = timeout(self.idle.min(self.left), server).await;
        self.spend(began.elapsed());
        result.map_err(|_| match self.left.is_zero() {
            true => Impatient::Total(self.total),
            false => Impatient::Idle(self.idle),
        })
    }

    /// Sleeps between two attempts.
    pub(super) async fn sleep(&mut self, wait: Duration) {
        tokio::time::sleep(wait).await;
        self.spend(wait);
    }

    fn spend(&mut self, time: Duration) {
        self.left = self.left.saturating_sub(time);
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_silent_server_ends_at_the_idle_limit() {
        let mut patience = Patience::new(SECOND, 10 * SECOND);
        assert_eq!(patience.wait(pending::<()>()).await, Err(Impatient::Idle(SECOND)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_drips_ends_at_the_total_limit() {
        let mut patience = Patience::new(2 * SECOND, 5 * SECOND);
        let began = Instant::now();
        let end = loop {
            if let Err(end) = patience.wait(tokio::time::sleep(SECOND)).await {
                break end;
            }
        };
        assert_eq!(end, Impatient::Total(5 * SECOND));
        assert!(began.elapsed() <= 6 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_costs_the_server_nothing() {
        let mut patience = Patience::new(SECOND, 2 * SECOND);
        for _ in 0..10 {
            assert_eq!(patience.wait(async { 7 }).await, Ok(7));
            tokio::time::sleep(60 * SECOND).await; // the reader, thinking
        }
    }
}
