//! Nothing planted leaves, whatever the pieces are: in events, requests, state, logs and errors.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod blocking;
mod nothing_leaves;
mod places;
mod secrets;
mod support;
