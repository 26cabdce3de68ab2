//! What has gone through within the last minute.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

/// The time that limits are for.
pub(super) const MINUTE: Duration = Duration::from_secs(60);

/// What one request counts at most. Servers say absurd numbers too, and sums must hold them.
const MOST_TOKENS: u64 = 1 << 40;

/// What may go through.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    pub(super) requests: Option<u64>,
    pub(super) tokens: Option<u64>,
    pub(super) burst: Option<u64>,
}

/// The requests of the last minute, oldest first.
///
/// A log, not a bucket: a full bucket that is filled up again lets twice its limit through in the minute after a pause.
#[derive(Debug, Default)]
pub(super) struct Window {
    entries: VecDeque<Entry>,
    /// The number of the oldest entry.
    oldest: u64,
    /// Tokens of all entries.
    tokens: u64,
    /// When all of the burst is to be had again.
    rested: Option<Instant>,
    /// Nothing goes through before: the server has said so.
    held_until: Option<Instant>,
}

#[derive(Debug)]
struct Entry {
    at: Instant,
    tokens: u64,
}

impl Window {
    /// Lets a request of so many tokens through now, under a number, or says when to ask again.
    pub(super) fn enter(&mut self, limits: Limits, tokens: u64, now: Instant) -> Result<u64, Instant> {
        let tokens = tokens.min(MOST_TOKENS);
        self.forget_before(now);
        if let Some(at) = self.ready_at(limits, tokens, now) {
            return Err(at);
        }
        self.entries.push_back(Entry { at: now, tokens });
        self.tokens += tokens;
        if let Some((pace, _)) = limits.pace() {
            self.rested = Some(self.rested.unwrap_or(now).max(now) + pace);
        }
        Ok(self.oldest + self.entries.len() as u64 - 1)
    }

    /// Says what a request really cost. `true` when that may let another one through earlier.
    pub(super) fn correct(&mut self, number: u64, tokens: u64) -> bool {
        let tokens = tokens.min(MOST_TOKENS);
        let place = number.checked_sub(self.oldest).and_then(|place| usize::try_from(place).ok());
        let Some(entry) = place.and_then(|place| self.entries.get_mut(place)) else { return false };
        let before = std::mem::replace(&mut entry.tokens, tokens);
        self.tokens = self.tokens - before + tokens;
        tokens < before
    }

    /// Lets nothing through for a while.
    pub(super) fn hold_until(&mut self, until: Instant) {
        self.held_until = self.held_until.max(Some(until));
    }

    /// How many requests and tokens count now.
    pub(super) fn used(&mut self, now: Instant) -> (u64, u64) {
        self.forget_before(now);
        (self.entries.len() as u64, self.tokens)
    }

    fn forget_before(&mut self, now: Instant) {
        while let Some(entry) = self.entries.front()
            && now.duration_since(entry.at) >= MINUTE
        {
            self.tokens -= entry.tokens;
            self.entries.pop_front();
            self.oldest += 1;
        }
    }

    /// When a request of so many tokens may go, at the earliest; `None` for now.
    fn ready_at(&self, limits: Limits, tokens: u64, now: Instant) -> Option<Instant> {
        let by_requests = limits.requests.and_then(|most| {
            let over = (self.entries.len() as u64 + 1).saturating_sub(most);
            self.left_at(usize::try_from(over).ok()?)
        });
        let by_tokens = limits.tokens.and_then(|most| {
            // What is over the limit by itself goes when nothing else counts.
            let mut over = self.tokens.saturating_add(tokens.min(most)).saturating_sub(most);
            let leaving = self.entries.iter().take_while(|entry| {
                let goes = over > 0;
                over = over.saturating_sub(entry.tokens);
                goes
            });
            self.left_at(leaving.count())
        });
        let by_burst = limits.pace().and_then(|(pace, burst)| {
            let ahead = u32::try_from(burst - 1).map_or(Duration::MAX, |ahead| pace.saturating_mul(ahead));
            self.rested?.checked_sub(ahead)
        });
        [by_requests, by_tokens, by_burst, self.held_until].into_iter().flatten().max().filter(|at| *at > now)
    }

    /// When this many of the oldest entries will have left; `None` for none of them.
    fn left_at(&self, count: usize) -> Option<Instant> {
        self.entries.get(count.checked_sub(1)?).map(|entry| entry.at + MINUTE)
    }
}

impl Limits {
    /// How far requests are apart once a burst is used up, and how many a burst is.
    fn pace(self) -> Option<(Duration, u64)> {
        let (requests, burst) = (self.requests?, self.burst?);
        Some((Duration::from_secs_f64(MINUTE.as_secs_f64() / requests as f64), burst))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever is asked for and corrected: no minute has more requests than allowed, nor more estimated tokens but
        /// for what a request alone is over.
        #[test]
        fn no_minute_has_more_than_the_limit(
            requests in 1_u64..8,
            tokens in 1_u64..200,
            burst in proptest::option::of(1_u64..8),
            asked in proptest::collection::vec((0_u64..40_000, 0_u64..150, proptest::option::of(0_u64..300)), 1..60),
        ) {
            let limits = Limits { requests: Some(requests), tokens: Some(tokens), burst };
            let mut window = Window::default();
            let mut now = Instant::now();
            let mut went: Vec<(Instant, u64)> = Vec::new();
            for (pause, size, real) in asked {
                now += Duration::from_millis(pause);
                let mut tries = 0;
                let number = loop {
                    match window.enter(limits, size, now) {
                        Ok(number) => break number,
                        Err(at) => {
                            prop_assert!(at > now, "asks again at once");
                            tries += 1;
                            prop_assert!(tries < 5, "asks again too often");
                            now = at;
                        }
                    }
                };
                prop_assert_eq!(number, went.len() as u64);
                let counts = |(at, _): &&(Instant, u64)| now.duration_since(*at) < MINUTE;
                let before: u64 = went.iter().filter(counts).map(|(_, size)| size).sum();
                prop_assert!((went.iter().filter(counts).count() as u64) < requests);
                prop_assert!(before + size.min(tokens) <= tokens, "{before} and {size} of {tokens}");
                went.push((now, size));
                if let Some(real) = real {
                    window.correct(number, real);
                    went.last_mut().unwrap().1 = real;
                }
                let sum: u64 = went.iter().filter(|(at, _)| now.duration_since(*at) < MINUTE).map(|(_, size)| size).sum();
                prop_assert_eq!(window.used(now).1, sum);
            }
        }
    }

    #[test]
    fn a_burst_is_followed_by_an_even_pace() {
        let limits = Limits { requests: Some(60), tokens: None, burst: Some(3) };
        let (mut window, start) = (Window::default(), Instant::now());
        let mut now = start;
        let mut went = Vec::new();
        while went.len() < 6 {
            match window.enter(limits, 0, now) {
                Ok(_) => went.push((now - start).as_secs()),
                Err(at) => now = at,
            }
        }
        assert_eq!(went, [0, 0, 0, 1, 2, 3]);
    }
}
