//! Which event answers to which expectation.

/// One line of the comparison; the numbers are places in the two lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Both fit.
    Fits { event: usize },
    /// An event that "anything" stands for.
    Covered { event: usize },
    /// An expectation without its event.
    Missing { expected: usize },
    /// An event that nothing expects.
    Unexpected { event: usize },
}

/// The alignment with the fewest missing and unexpected ones. `anything(expected)` says whether an expectation stands
/// for any number of events, `fits(expected, event)` whether it fits one.
pub(super) fn align(
    expected: usize,
    events: usize,
    anything: impl Fn(usize) -> bool,
    fits: impl Fn(usize, usize) -> bool,
) -> Vec<Step> {
    // costs[e][a]: how much is wrong between the expectations from `e` on and the events from `a` on.
    let mut costs = vec![vec![0_usize; events + 1]; expected + 1];
    for e in (0..=expected).rev() {
        for a in (0..=events).rev() {
            costs[e][a] = match (e < expected, a < events) {
                (false, _) => events - a,
                (true, false) => costs[e + 1][a] + usize::from(!anything(e)),
                (true, true) if anything(e) => costs[e + 1][a].min(costs[e][a + 1]),
                (true, true) => {
                    let wrong = 1 + costs[e + 1][a].min(costs[e][a + 1]);
                    if fits(e, a) { wrong.min(costs[e + 1][a + 1]) } else { wrong }
                }
            };
        }
    }
    let (mut steps, mut e, mut a) = (Vec::new(), 0, 0);
    while e < expected || a < events {
        let cost = costs[e][a];
        let down = (e < expected).then(|| costs[e + 1][a]);
        let right = (a < events).then(|| costs[e][a + 1]);
        if e < expected && anything(e) {
            if right == Some(cost) {
                steps.push(Step::Covered { event: a });
                a += 1;
            } else {
                e += 1;
            }
        } else if e < expected && a < events && fits(e, a) && costs[e + 1][a + 1] == cost {
            steps.push(Step::Fits { event: a });
            (e, a) = (e + 1, a + 1);
        } else if down.is_some_and(|down| down + 1 == cost) {
            steps.push(Step::Missing { expected: e });
            e += 1;
        } else {
            steps.push(Step::Unexpected { event: a });
            a += 1;
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::{Step::*, *};

    fn compare(expected: &str, events: &str) -> Vec<Step> {
        let (expected, events) = (expected.as_bytes(), events.as_bytes());
        align(expected.len(), events.len(), |e| expected[e] == b'*', |e, a| expected[e] == events[a])
    }

    #[test]
    fn equal_lists_fit() {
        assert_eq!(compare("ab", "ab"), [Fits { event: 0 }, Fits { event: 1 }]);
        assert_eq!(compare("", ""), []);
    }

    #[test]
    fn anything_stands_for_any_number() {
        for (expected, events) in [("a*b", "ab"), ("a*b", "axyb"), ("*", ""), ("*b", "bab"), ("a**", "abc")] {
            let steps = compare(expected, events);
            let wrong = steps.iter().any(|step| matches!(step, Missing { .. } | Unexpected { .. }));
            assert!(!wrong, "{expected} {events}: {steps:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_as_little_as_can_be() {
        assert_eq!(compare("abc", "ac"), [Fits { event: 0 }, Missing { expected: 1 }, Fits { event: 1 }]);
        assert_eq!(compare("ac", "abc"), [Fits { event: 0 }, Unexpected { event: 1 }, Fits { event: 2 }]);
        let replaced =
            [Fits { event: 0 }, Missing { expected: 1 }, Unexpected { event: 1 }, Fits { event: 2 }];
        assert_eq!(compare("abc", "axc"), replaced);
        assert_eq!(compare("a*c", "ab"), [Fits { event: 0 }, Covered { event: 1 }, Missing { expected: 2 }]);
    }
}
