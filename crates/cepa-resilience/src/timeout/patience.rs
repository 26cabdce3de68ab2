//! Waiting for items, for as long as limits allow.

use std::{pin::Pin, time::Duration};

use cepa_core::{Items, chain::Streams};
use tokio::time::{Instant, Sleep, sleep_until};

/// How long items may be waited for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    /// All waits together.
    pub(super) whole: Option<Duration>,
    /// The first item.
    pub(super) first: Option<Duration>,
    /// Each further one.
    pub(super) idle: Option<Duration>,
    /// Until when all must be over.
    pub(super) end: Option<End>,
}

/// When something around the call has to be over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) at: Instant,
    pub(super) limit: Duration,
    pub(super) of: Of,
}

/// What has to be over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Reply,
    Round,
}

/// What came too late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Late {
    Whole(Duration),
    First(Duration),
    Idle(Duration),
    End(End),
}

/// The waits of one call.
pub(super) struct Patience {
    limits: Limits,
    /// Nothing was waited for yet.
    fresh: bool,
    /// Put off by the time that readers take.
    whole_at: Option<Instant>,
    item_at: Option<(Instant, Late)>,
    sleep: Pin<Box<Sleep>>,
}

impl Limits {
    pub(super) fn is_none(&self) -> bool {
        self.whole.is_none() && self.first.is_none() && self.idle.is_none() && self.end.is_none()
    }
}

impl Patience {
    /// Begins to wait.
    pub(super) fn new(limits: Limits) -> Self {
        let now = Instant::now();
        let whole_at = limits.whole.map(|limit| now + limit);
        let item_at = limits.first.map(|limit| (now + limit, Late::First(limit)));
        let idle_at = || limits.idle.map(|limit| (now + limit, Late::Idle(limit)));
        let item_at = item_at.or_else(idle_at);
        let mut patience = Self { limits, fresh: true, whole_at, item_at, sleep: Box::pin(sleep_until(now)) };
        if let Some((at, _)) = patience.due() {
            patience.sleep.as_mut().reset(at);
        }
        patience
    }

    /// What is due next.
    fn due(&self) -> Option<(Instant, Late)> {
        let whole = self.whole_at.zip(self.limits.whole.map(Late::Whole));
        let end = self.limits.end.map(|end| (end.at, Late::End(end)));
        [end, whole, self.item_at].into_iter().flatten().min_by_key(|(at, _)| *at)
    }

    /// The next item, or that there is none any more, or what came too late.
    pub(super) async fn next<H: Streams>(
        &mut self,
        items: &mut Items<H>,
    ) -> Result<Option<Box<H::Item>>, Late> {
        let Some((at, late)) = self.due() else { return Ok(items.next().await) };
        // Nothing is begun after the end of what is around it.
        if std::mem::take(&mut self.fresh) && Instant::now() > at {
            return Err(late);
        }
        // Mostly it is due later than before: then the timer is left alone, and looked at again when it goes off.
        if self.sleep.deadline() > at {
            self.sleep.as_mut().reset(at);
        }
        loop {
            tokio::select! {
                biased;
                item = items.next() => return Ok(item),
                () = &mut self.sleep => {}
            }
            if Instant::now() >= at {
                return Err(late);
            }
            self.sleep.as_mut().reset(at);
        }
    }

    /// What is around the call need not be over any more.
    pub(super) fn forget_end(&mut self) {
        self.limits.end = None;
        if let Some((at, _)) = self.due() {
            self.sleep.as_mut().reset(at);
        }
    }

    /// A reader has taken an item since then: its time is nobody's delay.
    pub(super) fn read_since(&mut self, then: Instant) {
        let now = Instant::now();
        self.whole_at = self.whole_at.map(|at| at + (now - then));
        self.item_at = self.limits.idle.map(|limit| (now + limit, Late::Idle(limit)));
    }
}
