//! The export as the program's subscriber. A program of its own with one test, as there is one subscriber in a program.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[allow(dead_code, reason = "the other tests use the rest of it")]
#[path = "otlp/collector.rs"]
mod collector;

use std::collections::HashMap;

use cepa_core::{Agent, testing::ScriptedModel};
use cepa_tracing::{OtlpError, SetupError, TracingMiddleware, otlp};
use opentelemetry::global;
use tracing::info_span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::collector::Collector;

#[tokio::test]
async fn once_installed_it_takes_spans_and_metrics_and_hands_trace_ids_on() {
    let collector = Collector::answering(200);
    let guard = otlp().endpoint(collector.url()).install().unwrap();
    let again = otlp().endpoint(collector.url()).install().unwrap_err();
    assert!(matches!(again, OtlpError::Subscriber(SetupError::AlreadySet)));

    // The layer takes the program's meter.
    let cook =
        Agent::builder("Cook").model(ScriptedModel::new(["Soup."])).middleware(TracingMiddleware::new());
    cook.build().unwrap().reply("What is there to eat?").await.unwrap();

    let context = info_span!("request").context();
    let mut headers = HashMap::new();
    global::get_text_map_propagator(|propagator| propagator.inject_context(&context, &mut headers));
    assert!(headers.contains_key("traceparent"), "{headers:?}");

    guard.shutdown().unwrap();
    assert!(collector.received("/v1/traces").contains("invoke_agent Cook"));
    assert!(collector.received("/v1/metrics").contains("gen_ai.client.operation.duration"));
}
