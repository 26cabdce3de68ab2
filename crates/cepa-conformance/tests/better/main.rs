//! Where the recorded behaviour is a fault: what Cepa does instead. One test per file of `better/`, of the same name,
//! for what the file says is right and for what is no fault in the recording.
#![allow(non_snake_case, reason = "tests are named after the case files")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

mod basic;
mod budget;
mod compress;
mod errors;
mod files;
mod hitl;
mod hook_errors;
mod hooks;
mod interrupt;
mod limits;
mod mem0;
mod model_router;
mod rag;
mod reme;
mod retry;
mod rewrite;
mod short;
mod structured;
mod support;
mod tools;
mod tracing;
mod tts;
