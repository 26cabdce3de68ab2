//! Where nobody wants to know.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use cepa_core::{
    Agent, serde_json,
    testing::{Answer, ScriptedModel, ScriptedTool},
};
use cepa_tracing::TracingMiddleware;
use opentelemetry::{global, metrics::MeterProvider as _, trace::TracerProvider as _};
use opentelemetry_sdk::{
    metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider},
    trace::{InMemorySpanExporter, SdkTracerProvider},
};
use tokio::sync::Mutex;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::{Layer as _, filter::LevelFilter, layer::SubscriberExt as _, registry};

/// What `tracing` finds out about who listens is kept for all threads: one test after the other.
static ALONE: Mutex<()> = Mutex::const_new(());

/// A reply that runs a tool's question up to its pause; the state in which it is left.
async fn reply(layer: TracingMiddleware) -> String {
    let model = ScriptedModel::new([Answer::new().raw_tool_call("c1", "look", "{}").usage(10, 5)]);
    let tool = ScriptedTool::echo("look").asks();
    let mut agent = Agent::builder("Friday").model(model).middleware(layer).tool(tool).build().unwrap();
    agent.reply("Go").await.unwrap();
    assert!(agent.waiting_for().is_some());
    serde_json::to_string(&*agent.state().unwrap()).unwrap()
}

fn listen(level: LevelFilter) -> (InMemorySpanExporter, DefaultGuard) {
    let ended = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(ended.clone()).build();
    let spans = tracing_opentelemetry::layer().with_tracer(provider.tracer("test")).with_filter(level);
    (ended, tracing::subscriber::set_default(registry().with(spans)))
}

fn measure() -> (InMemoryMetricExporter, SdkMeterProvider) {
    let exported = InMemoryMetricExporter::default();
    let reader = PeriodicReader::builder(exported.clone()).build();
    (exported, SdkMeterProvider::builder().with_reader(reader).build())
}

fn measured(exported: &InMemoryMetricExporter, provider: &SdkMeterProvider) -> usize {
    exported.reset();
    provider.force_flush().unwrap();
    let all = exported.get_finished_metrics().unwrap();
    all.iter().flat_map(|all| all.scope_metrics()).flat_map(|scope| scope.metrics()).count()
}

#[tokio::test]
async fn nothing_is_recorded_without_a_subscriber_that_wants_it() {
    let _alone = ALONE.lock().await;
    let (exported, provider) = measure();
    global::set_meter_provider(provider.clone());

    let state = reply(TracingMiddleware::new()).await;
    assert!(!state.contains("traceparent"), "{state}");
    assert_eq!(measured(&exported, &provider), 0);

    let (ended, guard) = listen(LevelFilter::ERROR);
    let state = reply(TracingMiddleware::new()).await;
    assert!(!state.contains("traceparent"), "{state}");
    assert_eq!(ended.get_finished_spans().unwrap().len(), 0);
    assert_eq!(measured(&exported, &provider), 0);
    drop(guard);

    // With one that does all of it is there.
    let (ended, _guard) = listen(LevelFilter::INFO);
    let state = reply(TracingMiddleware::new()).await;
    assert!(state.contains("traceparent"), "{state}");
    assert_eq!(ended.get_finished_spans().unwrap().len(), 2);
    assert_eq!(measured(&exported, &provider), 3);
}

#[tokio::test]
async fn a_meter_of_ones_own_is_told_also_without_a_subscriber() {
    let _alone = ALONE.lock().await;
    let (exported, provider) = measure();
    let state = reply(TracingMiddleware::new().meter(provider.meter("test"))).await;
    assert!(!state.contains("traceparent"), "{state}");
    assert_eq!(measured(&exported, &provider), 3);
}
