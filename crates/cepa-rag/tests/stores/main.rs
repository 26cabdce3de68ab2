//! One suite over all stores, each a real server that the test starts: PostgreSQL with pgvector, Chroma, and Qdrant's
//! routes before the local mode of its client. And what stores do when a server is not well.
//!
//! A server is started where its variable names a Python interpreter: `cargo xtask python` sets them up.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says why")]

mod chroma;
mod data;
mod faults;
mod postgres;
mod process;
mod qdrant;
mod suite;
