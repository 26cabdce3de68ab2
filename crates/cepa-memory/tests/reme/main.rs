//! Memory in ReMe: with fakes on a paused clock, over HTTP with servers that fail, and with the real service.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

mod faults;
mod http;
mod layer;
mod real;
mod support;
