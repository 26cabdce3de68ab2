//! `examples/tracing`, as a collector sees it.
//!
//! The collector is *oteltap*, run by the interpreter that `CEPA_OTELTAP` names; `cargo xtask python` sets one up.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests"
)]

#[allow(dead_code, reason = "the tests of the crate use the rest of it")]
#[path = "../../../crates/cepa-tracing/tests/otlp/collector.rs"]
mod collector;
mod oteltap;
mod spans;

use std::{
    env, fs,
    path::Path,
    process::{Command, Output},
};

use serde_json::json;

use crate::{
    collector::{Collector, NOBODY},
    oteltap::Oteltap,
    spans::Spans,
};

/// The program, which cargo puts beside the tests.
fn example(arguments: &[&str]) -> Command {
    let deps = env::current_exe().unwrap();
    let program = deps.with_file_name("../examples/tracing").with_extension(env::consts::EXE_EXTENSION);
    assert!(program.exists(), "{} is missing: cargo build --examples --all-features", program.display());
    let mut command = Command::new(program);
    // What is set outside for other programs has no say here.
    let others = env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("OTEL_"));
    others.for_each(|(name, _)| _ = command.env_remove(name));
    command.args(arguments);
    command
}

#[track_caller]
fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    output
}

const TRACES: &str = "\
POST /ask
  invoke_agent Harbour clerk: ok
    chat script-large: ok
    execute_tool timetable: ok
      GET /timetable
    execute_tool sea_state: tool_error
      GET /buoys
    chat script-large: ok
POST /confirm
  invoke_agent Harbour clerk: ok
    execute_tool book_ferry: ok
      GET /bookings
    chat script-large: ok
POST /ask
  invoke_agent Harbour clerk: ok
    chat script-large: upstream
    chat script-large: upstream
    chat script-small: ok
";

#[test]
fn a_collector_gets_a_trace_of_each_reply_and_the_link_over_the_pause() {
    let Some(oteltap) = Oteltap::start() else { return };
    run(example(&["--otlp"]).env("OTEL_EXPORTER_OTLP_ENDPOINT", oteltap.url()));
    let (spans, metrics) = oteltap.received(TRACES.lines().count());
    let spans = Spans::new(spans);
    assert_eq!(spans.to_string(), TRACES);

    let [paused, resumed, last] = &spans.named("invoke_agent Harbour clerk")[..] else { panic!("{spans}") };
    assert_eq!(paused.links(), []);
    assert_eq!(resumed.links(), [paused.context()]);
    assert_ne!(resumed.context().0, paused.context().0, "one trace for two calls");
    assert_eq!(last.links(), []);
    assert_eq!(resumed.attribute("agentscope.agent.reply_id"), paused.attribute("agentscope.agent.reply_id"));
    assert_ne!(last.attribute("agentscope.agent.reply_id"), paused.attribute("agentscope.agent.reply_id"));
    for reply in [paused, resumed, last] {
        assert_eq!(reply.attribute("gen_ai.operation.name"), json!("invoke_agent"));
        assert_eq!(reply.attribute("gen_ai.agent.name"), json!("Harbour clerk"));
        let session = reply.attribute("gen_ai.conversation.id");
        assert!(session.is_string() && session == paused.attribute("gen_ai.conversation.id"), "{session}");
    }
    assert_eq!(paused.attribute("agentscope.agent.hitl_pending_tools"), json!(r#"["book_ferry"]"#));

    let chat = spans.named("chat script-large")[0];
    assert_eq!(chat.attribute("gen_ai.request.model"), json!("script-large"));
    assert_eq!(chat.attribute("gen_ai.usage.input_tokens"), json!(210));
    assert_eq!(chat.attribute("gen_ai.usage.output_tokens"), json!(34));
    let said = chat.attribute("gen_ai.input.messages");
    assert!(said.as_str().unwrap().contains("ferry to Hirtshals"), "{said}");

    let tool = spans.named("execute_tool sea_state")[0];
    assert_eq!(tool.attribute("gen_ai.tool.call.arguments"), json!(r#"{"to":"Hirtshals"}"#));
    assert_eq!(tool.events(), ["the buoy does not answer"]);

    for name in [
        "gen_ai.client.token.usage",
        "gen_ai.client.operation.duration",
        "gen_ai.client.operation.time_to_first_chunk",
    ] {
        assert!(metrics.iter().any(|metric| metric["name"] == name), "{name} in {metrics:?}");
    }
}

#[test]
fn the_environment_says_who_sends_and_with_which_key() {
    let collector = Collector::answering(200);
    let everything = Collector::answering(200);
    run(example(&["--otlp"]).envs([
        ("OTEL_EXPORTER_OTLP_ENDPOINT", everything.url().as_str()),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &format!("{}/spans", collector.url())),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=sesame"),
        ("OTEL_SERVICE_NAME", "north quay"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=storm"),
    ]));
    for (collector, path) in [(collector, "/spans"), (everything, "/v1/metrics")] {
        let headers = collector.headers(path).expect(path);
        assert!(headers.contains("\nx-key: sesame\n"), "{headers}");
        let body = collector.received(path);
        for text in ["service.name", "north quay", "deployment.environment.name", "storm"] {
            assert!(body.contains(text), "{text} in {path}");
        }
    }
}

#[test]
fn the_environment_turns_it_off() {
    for variables in [
        &[("OTEL_SDK_DISABLED", "true")][..],
        &[("OTEL_TRACES_EXPORTER", "none"), ("OTEL_METRICS_EXPORTER", "none")],
        &[("OTEL_TRACES_SAMPLER", "always_off"), ("OTEL_METRICS_EXPORTER", "none")],
    ] {
        let collector = Collector::answering(200);
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
        run(example(&["--otlp"]).envs([endpoint]).envs(variables.iter().copied()));
        let sent = ["/v1/traces", "/v1/metrics"].map(|path| collector.received(path));
        assert_eq!(sent, ["", ""], "{variables:?}");
    }
}

#[test]
fn without_a_collector_the_program_does_its_work_and_says_once_what_is_lost() {
    let output = example(&["--otlp"]).env("OTEL_EXPORTER_OTLP_ENDPOINT", NOBODY).output().unwrap();
    let (said, warned) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(said.contains("Seat 14 is at the window.\n"), "{said}");
    assert_eq!(warned.matches("no OpenTelemetry collector answers at").count(), 1, "{warned}");
}

#[test]
fn the_terminal_and_the_page_show_the_same_replies() {
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replies.html");
    _ = fs::remove_file(&page);
    let output = run(example(&["--terminal", "--html"]).arg(&page));
    let (terminal, page) = (String::from_utf8(output.stderr).unwrap(), fs::read_to_string(&page).unwrap());
    for line in TRACES.lines().filter(|line| line.starts_with(' ')) {
        let name = line.trim().split(':').next().unwrap();
        assert!(terminal.contains(name), "{name} in {terminal}");
        assert!(page.contains(name), "{name} on the page");
    }
    assert_eq!(terminal.matches("invoke_agent Harbour clerk").count(), 3, "{terminal}");
}

#[test]
fn a_mistyped_variable_is_an_error_that_names_it() {
    let output = example(&["--otlp"]).env("OTEL_TRACES_SAMPLER", "sometimes").output().unwrap();
    assert!(!output.status.success());
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("`OTEL_TRACES_SAMPLER` takes always_on or"), "{error}");
}
