//! One suite over all stores: the one inside the program, and real servers that the tests start: PostgreSQL with pgvector, Chroma, and Qdrant's
//! routes before the local mode of its client. And what stores do when a server is not well.
//!
//! A server is started where its variable names a Python interpreter: `cargo xtask python` sets them up.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says why")]

mod chroma;
mod data;
mod embedded;
mod faults;
mod postgres;
mod process;
mod qdrant;
mod suite;
