//! Memory in ReMe: with fakes on a paused clock, over HTTP with servers that fail, and with the real service.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests may fail the test")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]

mod faults;
mod http;
mod layer;
mod real;
#[path = "../servers/reme_models.rs"]
mod reme_models;
#[path = "../servers/reme.rs"]
mod reme_server;
mod support;
