//! The command from outside: what it prints and how it ends.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::{
    path::PathBuf,
    process::{Command, Output},
};

use serde_json::{Value, json};

/// A case that only observes: it needs no model, so that what it must give is short.
fn observing(name: &str) -> Value {
    json!({
        "name": name,
        "area": "basic",
        "note": "observe adds to the context",
        "agent": {"name": "Friday", "system_prompt": "SYS", "model": "main"},
        "models": {"main": {"name": "mock-main", "calls": []}},
        "calls": [{"type": "observe", "input": [{"id": "o1", "role": "user", "name": "bob", "text": "a"}]}],
        "expected": {"calls": [{
            "events": [],
            "final_messages": [],
            "error": null,
            "trace": [],
            "model_requests": [],
            "state": {
                "session_id": "s1",
                "summary": "",
                "context": [{"id": "o1", "name": "bob", "role": "user", "content": [{"type": "text", "text": "a"}]}],
                "reply_context": {
                    "reply_id": "<none>",
                    "cur_iter": 0,
                    "has_structured_schema": false,
                    "structured_output": null,
                },
                "middle_context": {},
            },
        }]},
    })
}

/// Case files in a folder of their own, which goes away with this.
struct Cases(PathBuf);

impl Cases {
    fn new(test: &str, cases: &[Value]) -> Self {
        let folder = std::env::temp_dir().join(format!("cepa-conformance-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (index, case) in cases.iter().enumerate() {
            std::fs::write(folder.join(format!("{index}.json")), case.to_string()).unwrap();
        }
        Self(folder)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let command = env!("CARGO_BIN_EXE_cepa-conformance");
        Command::new(command).arg(&self.0).args(arguments).output().unwrap()
    }
}

impl Drop for Cases {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn lines(output: &Output) -> Vec<String> {
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn all_passed_is_one_line_and_success() {
    let output = Cases::new("passed", &[observing("basic/a"), observing("basic/b")]).run(&[]);
    assert_eq!(lines(&output), ["2 passed, 0 failed"]);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_wrong_expectation_is_found_and_named() {
    let mut wrong = observing("basic/wrong");
    wrong["expected"]["calls"][0]["state"]["context"][0]["content"][0]["text"] = "b".into();
    let output = Cases::new("wrong", &[observing("basic/right"), wrong]).run(&[]);
    let difference = "calls[0].state.context[0].content[0].text: expected \"b\", got \"a\"";
    assert_eq!(
        lines(&output),
        [format!("FAILED basic/wrong: {difference}"), "1 passed, 1 failed".to_owned()]
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn what_is_not_supported_fails_unless_its_area_is_left_out() {
    let mut speech = observing("speech/a");
    speech["area"] = "speech".into();
    speech["middlewares"] = json!([{"kind": "telepathy"}]);
    let cases = Cases::new("unsupported", &[observing("basic/a"), speech]);
    let failure = "FAILED speech/a: not supported: layer of kind telepathy";
    assert_eq!(lines(&cases.run(&[])), [failure, "1 passed, 1 failed"]);
    assert_eq!(lines(&cases.run(&["--area", "basic"])), ["1 passed, 0 failed"]);
}

#[test]
fn a_case_that_hangs_fails_alone() {
    let mut hanging = observing("basic/hanging");
    hanging["models"]["main"]["calls"] = json!([{"hang": true}]);
    hanging["calls"] = json!([{"type": "reply", "input": {"role": "user", "name": "bob", "text": "a"}}]);
    let output = Cases::new("hanging", &[hanging, observing("basic/a")]).run(&[]);
    let lines = lines(&output);
    assert!(lines[0].starts_with("FAILED basic/hanging: hangs"), "{lines:?}");
    assert_eq!(lines[1], "1 passed, 1 failed");
}

#[test]
fn a_file_that_is_no_case_fails() {
    let output = Cases::new("malformed", &[json!({"name": "basic/a"})]).run(&[]);
    let lines = lines(&output);
    assert!(lines[0].contains("missing field"), "{lines:?}");
    assert_eq!(lines[1], "0 passed, 1 failed");
}
