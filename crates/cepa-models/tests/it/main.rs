//! The models against servers that do everything wrong, and against files they have never seen.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may fail, and say why"
)]

mod agent;
mod chat;
mod embedding;
#[cfg(all(feature = "espeak", target_os = "linux"))]
mod espeak;
#[cfg(feature = "extractive")]
mod extractive;
mod failures;
mod garbage;
mod real_server;
#[cfg(feature = "realtime")]
mod realtime;
#[cfg(feature = "realtime")]
mod realtime_server;
mod rerank;
mod secrets;
mod server;
mod speech;
