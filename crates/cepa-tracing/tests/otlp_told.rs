//! What a program with the export as its subscriber writes to standard error. It is this one, run once more.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[allow(dead_code, reason = "the other tests use the rest of it")]
#[path = "otlp/collector.rs"]
mod collector;

use std::{env, process::Command};

use cepa_tracing::otlp;
use tracing::info_span;

use crate::collector::Collector;

const AGAIN: &str = "CEPA_TEST_PROGRAM";

fn program() {
    let collector = Collector::answering(403);
    let guard = otlp().endpoint(collector.url()).install().unwrap();
    tracing::info!("the soup is hot");
    info_span!("first").in_scope(|| tracing::warn!("the soup boils over"));
    guard.flush().unwrap_err();
    collector.answer(200);
    info_span!("second").in_scope(|| ());
    guard.flush().unwrap();
}

#[test]
fn warnings_and_the_end_of_an_outage_are_told_on_standard_error() {
    if env::var_os(AGAIN).is_some() {
        return program();
    }
    let name = "warnings_and_the_end_of_an_outage_are_told_on_standard_error";
    let mut again = Command::new(env::current_exe().unwrap());
    let output = again.args(["--exact", name, "--nocapture"]).env(AGAIN, "1").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{told}");
    for text in [
        "the soup boils over",
        "/v1/traces answers 403 Forbidden: spans are lost",
        "/v1/traces takes spans again",
    ] {
        assert!(told.contains(text), "{text}: {told}");
    }
    assert!(!told.contains("the soup is hot"), "{told}");
}
