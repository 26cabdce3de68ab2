//! Speech beside replies, by voices whose audio tells what they said.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

mod beside;
mod deadlines;
mod faults;
mod interrupts;
mod panics;
mod recording;
mod support;
mod text;
mod voice;
