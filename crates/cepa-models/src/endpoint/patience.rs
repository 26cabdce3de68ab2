//! How long a call waits for its server.

use std::{fmt, time::Duration};

use tokio::time::{Instant, timeout};

/// What is left of the time that a call may wait for its server. Only waiting for the server counts, not the time
/// that a reader takes for what has come.
#[derive(Debug)]
pub(crate) struct Patience {
    idle: Duration,
    /// The idle limit of this attempt, which may have become shorter.
    idle_now: Duration,
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
        Self { idle, idle_now: idle, total, left: total }
    }

    /// What is left of the whole.
    pub(crate) fn left(&self) -> Duration {
        self.left
    }

    /// For the rest of this attempt no wait may be longer than this.
    pub(crate) fn shorten(&mut self, idle: Duration) {
        self.idle_now = self.idle.min(idle);
    }

    /// A new attempt begins.
    pub(super) fn restore(&mut self) {
        self.idle_now = self.idle;
    }

    /// Waits, but not too long.
    pub(super) async fn wait<F: Future>(&mut self, server: F) -> Result<F::Output, Impatient> {
        let began = Instant::now();
        let result = timeout(self.idle_now.min(self.left), server).await;
        self.spend(began.elapsed());
        result.map_err(|_| {
            if self.left.is_zero() { Impatient::Total(self.total) } else { Impatient::Idle(self.idle_now) }
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
    async fn what_is_cut_short_is_so_for_one_attempt() {
        let mut patience = Patience::new(5 * SECOND, 20 * SECOND);
        patience.shorten(SECOND);
        assert_eq!(patience.wait(pending::<()>()).await, Err(Impatient::Idle(SECOND)));
        patience.restore();
        assert_eq!(patience.wait(pending::<()>()).await, Err(Impatient::Idle(5 * SECOND)));
        patience.shorten(60 * SECOND);
        assert_eq!(patience.wait(pending::<()>()).await, Err(Impatient::Idle(5 * SECOND)));
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
