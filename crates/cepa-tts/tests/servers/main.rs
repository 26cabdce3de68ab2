//! Speech by the real clients of speech servers, and servers on loopback.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail the test"
)]

mod files;
mod realtime;
#[path = "../../../cepa-models/tests/it/realtime_server.rs"]
#[allow(dead_code, reason = "not all of it is needed here")]
mod realtime_server;
#[path = "../../../cepa-models/tests/it/server.rs"]
#[allow(dead_code, reason = "not all of it is needed here")]
mod server;
#[path = "../speech/support.rs"]
#[allow(dead_code, reason = "not all of it is needed here")]
mod support;
