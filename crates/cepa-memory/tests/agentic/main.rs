//! Memory in files: what a user of it would notice.
#![cfg(feature = "agentic")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

#[cfg(unix)]
mod confined;
mod failures;
mod faults;
mod index;
mod many;
mod sharing;
mod support;
mod tools;
