//! Resilience for Cepa agents: retries, fallbacks, limits, timeouts, circuit breakers, background tools.
#![forbid(unsafe_code)]

mod backoff;
mod options;
#[doc(hidden)]
pub mod texts;

pub use self::{backoff::Backoff, options::OptionError};
