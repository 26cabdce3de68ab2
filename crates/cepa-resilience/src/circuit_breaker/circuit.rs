//! One circuit: closed, open or half-open.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

/// The most calls that a ratio is made of.
pub(super) const MOST_CALLS: usize = 10_000;

/// When a circuit opens and how it closes again.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) consecutive: Option<u32>,
    pub(super) ratio: Option<Ratio>,
    pub(super) open_for: Duration,
    pub(super) probes: u32,
    pub(super) successes: u32,
}

/// So great a part of at least so many calls within so long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ratio {
    pub(super) failed: f64,
    pub(super) of_calls: u32,
    pub(super) within: Duration,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Success,
    Failure,
    /// It says nothing: it was interrupted, given up, or failed for another reason.
    Nothing,
}

/// What has become of the circuit by a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Opened,
    Closed,
}

/// A call was let through in this phase, at this time: what it comes to counts only as long as the phase lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket(u64, Instant);

#[derive(Debug, Default)]
pub(super) struct Circuit {
    pub(super) phase: Phase,
    /// Grows with each change of phase.
    number: u64,
}

#[derive(Debug)]
pub(super) enum Phase {
    Closed {
        consecutive: u32,
        calls: VecDeque<(Instant, bool)>,
        failed: usize,
    },
    Open {
        until: Instant,
    },
    /// With the times at which the probes that are under way were let through.
    HalfOpen {
        probing: Vec<Instant>,
        succeeded: u32,
    },
}

impl Default for Phase {
    fn default() -> Self {
        Self::Closed { consecutive: 0, calls: VecDeque::new(), failed: 0 }
    }
}

impl Circuit {
    /// Lets a call through, or says in how long another try is worth it: `None` while probes are under way.
    pub(super) fn enter(&mut self, rules: &Rules, now: Instant) -> Result<Ticket, Option<Duration>> {
        if let Phase::Open { until } = self.phase {
            if now < until {
                return Err(Some(until - now));
            }
            self.go_to(Phase::HalfOpen { probing: Vec::new(), succeeded: 0 });
        }
        if let Phase::HalfOpen { probing, .. } = &mut self.phase {
            // A probe whose reply nobody reads may never end: it gives its place to another after a while.
            probing.retain(|since| now.duration_since(*since) < rules.open_for);
            if probing.len() >= rules.probes as usize {
                return Err(None);
            }
            probing.push(now);
        }
        Ok(Ticket(self.number, now))
    }

    /// Takes in how a call ended.
    pub(super) fn leave(
        &mut self,
        rules: &Rules,
        ticket: Ticket,
        outcome: Outcome,
        now: Instant,
    ) -> Option<Change> {
        if ticket.0 != self.number {
            return None;
        }
        match &mut self.phase {
            // Its number is given to no call.
            Phase::Open { .. } => None,
            Phase::HalfOpen { probing, succeeded } => {
                if let Some(own) = probing.iter().position(|since| *since == ticket.1) {
                    probing.swap_remove(own);
                }
                match outcome {
                    Outcome::Nothing => return None,
                    Outcome::Failure => {}
                    Outcome::Success => {
                        *succeeded += 1;
                        if *succeeded < rules.successes {
                            return None;
                        }
                    }
                }
                let closes = outcome == Outcome::Success;
                self.go_to(if closes {
                    Phase::default()
                } else {
                    Phase::Open { until: now + rules.open_for }
                });
                Some(if closes { Change::Closed } else { Change::Opened })
            }
            Phase::Closed { consecutive, calls, failed } => {
                let is_failure = match outcome {
                    Outcome::Nothing => return None,
                    Outcome::Success => false,
                    Outcome::Failure => true,
                };
                *consecutive = if is_failure { consecutive.saturating_add(1) } else { 0 };
                let mut opens = rules.consecutive.is_some_and(|most| *consecutive >= most);
                if let Some(ratio) = rules.ratio {
                    calls.push_back((now, is_failure));
                    *failed += usize::from(is_failure);
                    while let Some((at, was_failure)) = calls.front()
                        && (now.duration_since(*at) >= ratio.within || calls.len() > MOST_CALLS)
                    {
                        *failed -= usize::from(*was_failure);
                        calls.pop_front();
                    }
                    opens |= is_failure
                        && calls.len() >= ratio.of_calls as usize
                        && *failed as f64 >= ratio.failed * calls.len() as f64;
                }
                if !opens {
                    return None;
                }
                self.go_to(Phase::Open { until: now + rules.open_for });
                Some(Change::Opened)
            }
        }
    }

    fn go_to(&mut self, phase: Phase) {
        self.phase = phase;
        self.number += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rules() -> Rules {
        Rules {
            consecutive: Some(3),
            ratio: None,
            open_for: Duration::from_secs(30),
            probes: 2,
            successes: 2,
        }
    }

    /// Whether a call still takes the place of a probe.
    fn counts(ticket: &Ticket, circuit: &Circuit, now: Instant) -> bool {
        ticket.0 == circuit.number && now.duration_since(ticket.1) < rules().open_for
    }

    proptest! {
        /// Whatever calls do and in whatever order they end: no more probes than allowed are under way at once, none goes
        /// through while it is open, and it never stays half-open without a place for a probe.
        #[test]
        fn no_more_probes_than_allowed(steps in proptest::collection::vec((0_u8..4, 0_u64..20, any::<prop::sample::Index>()), 1..200)) {
            let rules = rules();
            let mut circuit = Circuit::default();
            let mut now = Instant::now();
            let mut running: Vec<Ticket> = Vec::new();
            for (what, pause, which) in steps {
                now += Duration::from_secs(pause);
                let outcome = match what {
                    0 => {
                        let is_open = matches!(circuit.phase, Phase::Open { until } if now < until);
                        match circuit.enter(&rules, now) {
                            Ok(ticket) => {
                                prop_assert!(!is_open);
                                running.push(ticket);
                            }
                            Err(Some(wait)) => prop_assert!(is_open && wait <= rules.open_for && !wait.is_zero()),
                            Err(None) => {
                                let probes = running.iter().filter(|ticket| counts(ticket, &circuit, now));
                                prop_assert_eq!(probes.count(), 2);
                            }
                        }
                        continue;
                    }
                    1 => Outcome::Success,
                    2 => Outcome::Failure,
                    _ => Outcome::Nothing,
                };
                if !running.is_empty() {
                    let ticket = running.swap_remove(which.index(running.len()));
                    circuit.leave(&rules, ticket, outcome, now);
                }
                if let Phase::HalfOpen { probing, .. } = &circuit.phase {
                    let probes = running.iter().filter(|ticket| counts(ticket, &circuit, now)).count();
                    let young = probing.iter().filter(|since| now.duration_since(**since) < rules.open_for);
                    prop_assert_eq!(young.count(), probes);
                    prop_assert!(probing.len() <= 2);
                }
            }
        }
    }

    #[test]
    fn a_probe_that_never_ends_does_not_keep_others_away_for_ever() {
        let rules = Rules { consecutive: Some(1), probes: 1, successes: 1, ..rules() };
        let (mut circuit, start) = (Circuit::default(), Instant::now());
        let first = circuit.enter(&rules, start).unwrap();
        circuit.leave(&rules, first, Outcome::Failure, start);
        let after = |seconds| start + Duration::from_secs(seconds);
        let hangs = circuit.enter(&rules, after(30)).unwrap();
        assert_eq!(circuit.enter(&rules, after(59)), Err(None));
        let next = circuit.enter(&rules, after(60)).unwrap();
        assert_eq!(circuit.enter(&rules, after(61)), Err(None));
        assert_eq!(circuit.leave(&rules, next, Outcome::Success, after(62)), Some(Change::Closed));
        assert_eq!(circuit.leave(&rules, hangs, Outcome::Failure, after(63)), None);
    }

    #[test]
    fn a_ratio_needs_enough_calls_and_forgets_old_ones() {
        let ratio = Ratio { failed: 0.5, of_calls: 4, within: Duration::from_secs(60) };
        let rules = Rules { consecutive: None, ratio: Some(ratio), ..rules() };
        let (mut circuit, mut now) = (Circuit::default(), Instant::now());
        let mut call = |outcome, pause| {
            now += Duration::from_secs(pause);
            let ticket = circuit.enter(&rules, now).unwrap();
            circuit.leave(&rules, ticket, outcome, now)
        };
        for _ in 0..3 {
            assert_eq!(call(Outcome::Failure, 1), None, "too few calls");
        }
        assert_eq!(call(Outcome::Success, 60), None);
        assert_eq!(call(Outcome::Success, 1), None);
        assert_eq!(call(Outcome::Failure, 1), None, "the old ones do not count");
        assert_eq!(call(Outcome::Failure, 1), Some(Change::Opened));
    }
}
