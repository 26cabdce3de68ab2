//! One detector: finds a kind of value in text, and says up to where it is sure.

use std::{fmt, ops::Range, sync::Arc};

use regex::Regex;
use regex_automata::{
    Anchored, Input,
    hybrid::dfa::{Cache, DFA},
    util::{pool::Pool, syntax},
};

use super::{Action, ScreenError};

/// Looks at a match and its neighbours: where in it the value is, or that it is none.
pub(crate) type Verify = fn(&str, Range<usize>) -> Option<Range<usize>>;

/// A detector as the caller writes it.
type Function = Arc<dyn Fn(&str) -> Vec<Range<usize>> + Send + Sync>;

type NewCache = Box<dyn Fn() -> Cache + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>;

/// Finds one kind of value.
pub(crate) struct Detector {
    pub(crate) name: Arc<str>,
    pub(crate) action: Action,
    /// Bytes of the longest value: a start is decided on when so many have followed.
    pub(crate) longest: usize,
    /// What follows a value that was longer than that and belongs to it still.
    pub(crate) tail: Option<fn(u8) -> bool>,
    finder: Finder,
}

enum Finder {
    Pattern(Box<Pattern>),
    Function(Function),
}

struct Pattern {
    regex: Regex,
    /// The same pattern as an automaton that tells whether text may still become a match.
    ahead: DFA,
    caches: Pool<Cache, NewCache>,
    verify: Option<Verify>,
}

/// A value, and which detector has found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) range: Range<usize>,
    pub(crate) detector: usize,
}

impl Detector {
    pub(crate) fn pattern(
        name: impl Into<Arc<str>>,
        pattern: &str,
        longest: usize,
        verify: Option<Verify>,
    ) -> Result<Self, ScreenError> {
        let name = name.into();
        let broken = |reason: String| ScreenError::Pattern { detector: name.to_string(), reason };
        let regex = Regex::new(pattern).map_err(|error| broken(error.to_string()))?;
        if regex.is_match("") {
            return Err(broken("it matches the empty text".to_owned()));
        }
        // Without UTF-8 mode the automaton is never asked to step over a character: starts are given to it.
        let ahead = DFA::builder()
            .configure(DFA::config().unicode_word_boundary(true).skip_cache_capacity_check(true))
            .syntax(syntax::Config::new())
            .build(pattern)
            .map_err(|error| broken(error.to_string()))?;
        let own = ahead.clone();
        let caches = Pool::new(Box::new(move || own.create_cache()) as NewCache);
        let finder = Finder::Pattern(Box::new(Pattern { regex, ahead, caches, verify }));
        Self::new(name, longest, finder)
    }

    pub(crate) fn function(
        name: impl Into<Arc<str>>,
        longest: usize,
        find: impl Fn(&str) -> Vec<Range<usize>> + Send + Sync + 'static,
    ) -> Result<Self, ScreenError> {
        Self::new(name.into(), longest, Finder::Function(Arc::new(find)))
    }

    fn new(name: Arc<str>, longest: usize, finder: Finder) -> Result<Self, ScreenError> {
        if longest == 0 || longest > MOST {
            return Err(ScreenError::Longest { detector: name.to_string(), longest, most: MOST });
        }
        Ok(Self { name, action: Action::Redact, longest, tail: None, finder })
    }

    pub(crate) fn with_action(mut self, action: Action) -> Self {
        self.action = action;
        self
    }

    pub(crate) fn with_tail(mut self, tail: fn(u8) -> bool) -> Self {
        self.tail = Some(tail);
        self
    }

    /// The values that begin in `from..decided`, none inside of another.
    pub(crate) fn hits(&self, text: &str, from: usize, decided: usize, mut found: impl FnMut(Range<usize>)) {
        let mut from = from;
        match &self.finder {
            Finder::Pattern(pattern) => {
                while from < decided {
                    let Some(candidate) = pattern.regex.find_at(text, from) else { return };
                    if candidate.start() >= decided {
                        return;
                    }
                    let range = match pattern.verify {
                        None => Some(candidate.range()),
                        Some(verify) => verify(text, candidate.range()),
                    };
                    from = match range {
                        Some(range) => {
                            let end = range.end;
                            found(range);
                            end
                        }
                        None => next_char(text, candidate.start()),
                    };
                }
            }
            Finder::Function(find) => {
                let mut ranges = find(text);
                ranges.retain(|range| {
                    let fits = text.get(range.clone()).is_some_and(|value| !value.is_empty());
                    fits && (from..decided).contains(&range.start)
                });
                ranges.sort_by_key(|range| range.start);
                for range in ranges {
                    if range.start >= from {
                        from = range.end;
                        found(range);
                    }
                }
            }
        }
    }

    /// The first place from `from` on at which a value may begin that more text would decide on.
    pub(crate) fn undecided(&self, text: &str, from: usize) -> usize {
        let seen_enough = text.len().saturating_sub(self.longest);
        let mut at = from.max(floor(text, seen_enough));
        let Finder::Pattern(pattern) = &self.finder else { return at };
        let mut cache = pattern.caches.get();
        while at < text.len() {
            if pattern.may_become_match(&mut cache, text, at) {
                return at;
            }
            at = next_char(text, at);
        }
        text.len()
    }
}

impl Pattern {
    /// Whether all of the text from here on may be the beginning of a match, or the end of one that may go on.
    fn may_become_match(&self, cache: &mut Cache, text: &str, at: usize) -> bool {
        let input = Input::new(text).range(at..).anchored(Anchored::Yes);
        // Where the automaton gives up (a word boundary beside letters that are not ASCII) anything may be.
        let Ok(mut state) = self.ahead.start_state_forward(cache, &input) else { return true };
        for &byte in text.as_bytes().get(at..).unwrap_or_default() {
            if state.is_tagged() {
                if state.is_dead() {
                    return false;
                }
                if state.is_quit() {
                    return true;
                }
            }
            match self.ahead.next_state(cache, state, byte) {
                Ok(next) => state = next,
                Err(_) => return true,
            }
        }
        // A match is told one byte late: it is over when nothing goes on from here.
        if state.is_tagged() && state.is_match() {
            let mut next = self.ahead.byte_classes().representatives(0..=255).filter_map(|unit| unit.as_u8());
            return next
                .any(|byte| !self.ahead.next_state(cache, state, byte).is_ok_and(|state| state.is_dead()));
        }
        !state.is_dead()
    }
}

/// The longest that a value may be.
const MOST: usize = 64 * 1024;

/// The nearest border of a character at or before `at`.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default()
}

fn next_char(text: &str, at: usize) -> usize {
    (at + 1..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

impl fmt::Debug for Detector {
    // The pattern may be the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Detector")
            .field("name", &self.name)
            .field("action", &self.action)
            .finish_non_exhaustive()
    }
}
