//! The spans and metrics of an agent, as an exporter gets them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

mod capture;
mod closing;
mod interleaved;
mod keys;
mod metrics;
mod nesting;
mod parameters;
mod pausing;
mod resends;
mod support;
mod tools;
