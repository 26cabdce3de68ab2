//! The recorded cases of the agent itself: all of them pass.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::process::Command;

#[test]
fn all_pass() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/cases");
    let output = Command::new(env!("CARGO_BIN_EXE_cepa-conformance")).arg(folder).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}");
    let cases = std::fs::read_dir(folder).unwrap().count();
    // Those that may differ in a part are named, each with its reason.
    let exempt = printed.lines().filter(|line| line.starts_with("exempt ")).count();
    assert_eq!(exempt, 2, "{printed}");
    assert_eq!(printed.lines().last().unwrap(), format!("{} passed, 0 failed", cases - exempt));
}
