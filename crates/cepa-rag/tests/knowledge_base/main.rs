//! Knowledge bases over the embedded store: what is kept, found and mended.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail, and say why")]

mod cache;
mod crash;
mod folders;
mod incremental;
mod limits;
mod parts;
mod scope;
mod search;
mod server;
