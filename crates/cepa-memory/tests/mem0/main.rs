//! Memory by mem0: before a store in this program, the real engine, and a copy of the hosted platform's routes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says why")]

mod broken;
mod engine;
mod faults;
mod load;
#[path = "../servers/mem0_models.rs"]
mod mem0_models;
#[path = "../servers/mem0.rs"]
mod mem0_server;
mod platform;
mod store;
mod support;
mod tools;
mod turns;
