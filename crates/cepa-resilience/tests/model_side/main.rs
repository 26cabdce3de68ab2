//! The layers around model calls, against models and tools that misbehave.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

mod circuit_breaker;
mod concurrency_limit;
mod every_end;
mod model_fallback;
mod model_retry;
mod rate_limit;
mod stack;
mod support;
mod timeout;
