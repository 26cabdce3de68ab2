//! Faults that users of other agent frameworks have met. Each test is named after its row in `docs/faults.md`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

mod cancelling;
mod hook_chain;
mod invariants;
mod models;
mod people;
mod reply_stream;
mod state;
mod support;
mod tool_calls;
