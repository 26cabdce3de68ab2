//! What the builders of all layers share: the error of a value that cannot be.

use std::{fmt, time::Duration};

/// The longest time that an option may have: a year. Longer ones are slips of units, and timers overflow on some.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// An option of a layer that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{option}` is {value}, but must be {must_be}")]
#[non_exhaustive]
pub struct OptionError {
    /// The builder's method.
    pub option: &'static str,
    /// What it was given.
    pub value: String,
    /// What may be given.
    pub must_be: &'static str,
}

impl OptionError {
    pub(crate) fn new(option: &'static str, value: impl fmt::Display, must_be: &'static str) -> Self {
        Self { option, value: value.to_string(), must_be }
    }

    /// A number of which there must be at least one.
    pub(crate) fn check_count(option: &'static str, count: u64) -> Result<(), Self> {
        if count == 0 { Err(Self::new(option, count, "at least 1")) } else { Ok(()) }
    }

    /// A time that is longer than none, and not absurd.
    pub(crate) fn check_time(option: &'static str, time: Duration) -> Result<(), Self> {
        if time.is_zero() || time > LONGEST {
            return Err(Self::new(option, format_args!("{time:?}"), "longer than 0 s and at most a year"));
        }
        Ok(())
    }
}
