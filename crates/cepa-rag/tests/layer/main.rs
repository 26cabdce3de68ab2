//! The layer in agents: what the model, the caller and the session see of a search.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail, and say why")]

mod agentic;
mod faults;
mod fixed;
mod rerank;
mod settings;
mod support;
