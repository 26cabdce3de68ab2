//! The models against servers that do everything wrong, and against files they have never seen.

mod chat;
mod embedding;
#[cfg(feature = "extractive")]
mod extractive;
mod failures;
mod garbage;
mod real_server;
mod secrets;
mod server;
