//! Export to collectors of all kinds: one that takes everything, one that says no, one that hangs, and none.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod collector;
mod log;

use std::time::{Duration, Instant};

use cepa_core::{
    Agent, ErrorType, ModelError,
    serde_json::json,
    testing::{Answer, ScriptedModel, ScriptedTool},
};
use cepa_tracing::{OtlpError, OtlpGuard, TracingMiddleware, otlp};
use tracing::{Level, instrument::WithSubscriber as _};
use tracing_subscriber::{layer::SubscriberExt as _, registry};

use crate::collector::{Collector, NOBODY};

/// The most replies of a test.
const REPLIES: usize = 5;

/// An agent whose tool logs two lines, traced to a collector.
struct Traced {
    agent: Agent,
    dispatch: tracing::Dispatch,
    guard: OtlpGuard,
}

impl Traced {
    fn new(url: &str, flush_timeout: Duration) -> Self {
        log::keep();
        let (layer, guard) = otlp()
            .endpoint(url)
            .service_name("kitchen")
            .attribute("service.version", "1.2")
            .flush_timeout(flush_timeout)
            .layer()
            .unwrap();
        let reply = || [Answer::new().tool_call("stir", json!({})), Answer::new().text("Soup.")];
        let model = ScriptedModel::new((0..REPLIES).flat_map(|_| reply()));
        let stir = ScriptedTool::answering("stir", |_| {
            tracing::warn!("the soup boils over");
            tracing::info!("the soup is hot");
            "stirred"
        });
        let agent = Agent::builder("Cook")
            .model(model)
            .tool(stir)
            .middleware(TracingMiddleware::new().meter(guard.meter()))
            .build()
            .unwrap();
        Self { agent, dispatch: registry().with(layer).into(), guard }
    }

    async fn reply(&mut self) -> String {
        let reply = async { self.agent.reply("What is there to eat?").await };
        reply.with_subscriber(self.dispatch.clone()).await.unwrap().text().unwrap()
    }
}

// On a runtime of one thread, which waits while the guard sends: nothing may need it.
#[tokio::test]
async fn what_is_left_is_sent_when_the_guard_is_dropped() {
    let collector = Collector::answering(200);
    let mut traced = Traced::new(&collector.url(), Duration::from_secs(5));
    assert_eq!(traced.reply().await, "Soup.");
    drop(traced.guard);
    let spans = collector.received("/v1/traces");
    for text in ["invoke_agent Cook", "chat scripted", "execute_tool stir", "kitchen", "service.version"] {
        assert!(spans.contains(text), "{text}");
    }
    for text in ["code.file.path", "thread.id", "busy_ns"] {
        assert!(!spans.contains(text), "{text}");
    }
    let headers = collector.headers("/v1/traces").unwrap();
    assert!(headers.contains("content-type: application/x-protobuf\n"), "{headers}");
    assert!(collector.received("/v1/metrics").contains("gen_ai.client.operation.duration"));
    assert_eq!(log::lines(Level::WARN, &collector.url()), [""; 0]);
}

#[tokio::test]
async fn warnings_in_a_span_are_sent_and_its_log_is_not() {
    let collector = Collector::answering(200);
    let mut traced = Traced::new(&collector.url(), Duration::from_secs(5));
    traced.reply().await;
    traced.guard.shutdown().unwrap();
    let spans = collector.received("/v1/traces");
    assert!(spans.contains("the soup boils over"));
    assert!(!spans.contains("the soup is hot"));
}

#[tokio::test]
async fn what_an_error_quotes_is_not_sent_by_way_of_a_warning() {
    let collector = Collector::answering(200);
    let mut traced = Traced::new(&collector.url(), Duration::from_secs(5));
    let refused = ModelError::new(ErrorType::InvalidRequest, "'my card is 4111 1111' is refused");
    let model = ScriptedModel::new([Answer::new().fails(refused)]);
    traced.agent = Agent::builder("Cook").model(model).middleware(TracingMiddleware::new()).build().unwrap();
    let reply = async { traced.agent.reply("my card is 4111 1111").await.unwrap_err() };
    reply.with_subscriber(traced.dispatch.clone()).await;
    traced.guard.shutdown().unwrap();
    let spans = collector.received("/v1/traces");
    // What happened is there, and with which model.
    for text in ["model call failed", "cepa_core::agent::ask", "scripted", "invalid_request"] {
        assert!(spans.contains(text), "{text}");
    }
    assert!(!spans.contains("4111"));
}

#[tokio::test]
async fn without_a_collector_the_agent_runs_on_and_there_is_one_warning() {
    let mut traced = Traced::new(NOBODY, Duration::from_secs(5));
    for _ in 0..2 {
        assert_eq!(traced.reply().await, "Soup.");
        let error = traced.guard.flush().unwrap_err();
        assert!(matches!(error, OtlpError::NotSent { what: "spans", .. }), "{error:?}");
        assert!(error.to_string().contains(&format!("no answer from {NOBODY}: ")), "{error}");
    }
    drop(traced.guard);
    let warnings = log::lines(Level::WARN, NOBODY);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("no OpenTelemetry collector answers at "), "{warnings:?}");
}

#[tokio::test]
async fn a_collector_that_hangs_holds_up_the_end_for_the_flush_timeout_only() {
    let collector = Collector::hanging();
    let mut traced = Traced::new(&collector.url(), Duration::from_millis(100));
    assert_eq!(traced.reply().await, "Soup.");
    let start = Instant::now();
    let error = traced.guard.flush().unwrap_err();
    assert_eq!(error.to_string(), "spans did not reach the collector within 100ms");
    assert_eq!(traced.reply().await, "Soup.");
    drop(traced.guard);
    // A request would take 10 s until it is given up.
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_refusal_is_told_once_for_each_kind_of_data_and_so_is_its_end() {
    let collector = Collector::answering(500);
    let mut traced = Traced::new(&collector.url(), Duration::from_secs(5));
    let mut flush = async || {
        assert_eq!(traced.reply().await, "Soup.");
        traced.guard.flush()
    };
    let told = |level| log::lines(level, &collector.url()).len();

    for _ in 0..2 {
        let error = flush().await.unwrap_err().to_string();
        assert!(error.ends_with("/v1/traces answers 500 Internal Server Error"), "{error}");
    }
    assert_eq!((told(Level::WARN), told(Level::INFO)), (2, 0));

    collector.answer(200);
    for _ in 0..2 {
        flush().await.unwrap();
    }
    assert_eq!((told(Level::WARN), told(Level::INFO)), (2, 2));

    collector.answer(500);
    flush().await.unwrap_err();
    assert_eq!((told(Level::WARN), told(Level::INFO)), (4, 2));
}

#[test]
fn spans_that_find_the_queue_full_are_counted_and_told() {
    const ENDED: usize = 10_000;
    let collector = Collector::answering(200);
    let traced = Traced::new(&collector.url(), Duration::from_secs(5));
    let burst = || {
        collector.hold(true);
        tracing::dispatcher::with_default(&traced.dispatch, || {
            for _ in 0..ENDED {
                tracing::info_span!("pea").in_scope(|| ());
            }
        });
        collector.hold(false);
    };
    let received = || collector.received("/v1/traces").matches("pea").count();

    burst();
    let error = traced.guard.flush().unwrap_err();
    let OtlpError::Lost { count, .. } = error else { panic!("{error}") };
    // A batch may have been on its way; the queue was full.
    assert!((ENDED - 512 - 2048..=ENDED - 2048).contains(&count), "{count}");
    assert_eq!(received() + count, ENDED);
    assert!(error.to_string().contains("`OTEL_BSP_MAX_QUEUE_SIZE`"), "{error}");
    // It was told.
    traced.guard.flush().unwrap();

    burst();
    let error = traced.guard.shutdown().unwrap_err();
    let OtlpError::Lost { count: again, .. } = error else { panic!("{error}") };
    assert_eq!(received() + count + again, 2 * ENDED);
    let warnings = log::lines(Level::WARN, &collector.url());
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("spans for the OpenTelemetry collector at "), "{warnings:?}");
}

#[tokio::test]
async fn a_batch_that_failed_between_two_flushes_is_told_by_the_second() {
    let collector = Collector::answering(400);
    let traced = Traced::new(&collector.url(), Duration::from_secs(5));
    let end = |name: &'static str| {
        tracing::dispatcher::with_default(&traced.dispatch, || {
            (0..512).for_each(|_| tracing::info_span!("pea", otel.name = name).in_scope(|| ()));
        });
    };
    end("lost"); // a full batch is sent at once
    while log::lines(Level::WARN, &collector.url()).is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    collector.answer(200);
    end("kept");
    let error = traced.guard.flush().unwrap_err().to_string();
    assert!(error.contains("512 of them were in requests that failed"), "{error}");
    traced.guard.flush().unwrap();
}

#[tokio::test]
async fn a_key_in_the_urls_query_is_sent_and_not_told() {
    let collector = Collector::answering(403);
    let url = format!("{}?api_key=sesame", collector.url());
    assert!(!format!("{:?}", otlp().endpoint(&url)).contains("sesame"));
    let mut traced = Traced::new(&url, Duration::from_secs(5));
    traced.reply().await;
    let error = traced.guard.flush().unwrap_err();
    assert!(error.to_string().contains(&format!("{}/v1/traces answers 403", collector.url())), "{error}");
    let told = format!("{error} {error:?} {:?} {}", traced.guard, log::everything());
    assert!(told.contains(&collector.url()) && !told.contains("sesame"), "{told}");
    assert!(collector.headers("/v1/traces?api_key=sesame").is_some());

    // A collector that does not answer, and one in the way of which there is something else.
    // (Not at the address whose warnings another test counts.)
    for url in ["http://127.0.0.2:1?api_key=sesame".to_owned(), url.replace("http:", "https:")] {
        let mut traced = Traced::new(&url, Duration::from_secs(5));
        traced.reply().await;
        let told = format!("{:?} {}", traced.guard.flush().unwrap_err(), log::everything());
        assert!(!told.contains("sesame"), "{told}");
    }
}

#[test]
fn a_flush_may_take_as_long_as_it_wants() {
    let collector = Collector::answering(200);
    let traced = Traced::new(&collector.url(), Duration::MAX);
    traced.guard.flush().unwrap();
    drop(traced.guard);
}

#[cfg(any(feature = "rustls", feature = "native-tls"))]
#[tokio::test]
async fn a_collector_over_tls_needs_no_more_than_its_url() {
    // Nobody speaks TLS there: what is said of it comes from the handshake, so there was one.
    let collector = Collector::answering(200);
    let url = collector.url().replace("http:", "https:");
    let mut traced = Traced::new(&url, Duration::from_secs(5));
    traced.reply().await;
    let error = traced.guard.flush().unwrap_err().to_string();
    assert!(error.contains(&url), "{error}");
    assert!(!error.contains("scheme"), "{error}");
}

#[test]
fn wrong_settings_of_the_program_are_errors_that_name_them() {
    for (otlp, name) in [
        (otlp().endpoint("collector:4318"), ".endpoint(…)"),
        (otlp().filter("my_crate=loud"), ".filter(…)"),
        (otlp().flush_timeout(Duration::ZERO), ".flush_timeout(…)"),
    ] {
        let error = otlp.layer::<tracing_subscriber::Registry>().map(drop).unwrap_err();
        assert!(matches!(&error, OtlpError::Setting { name: of, .. } if of == name), "{error}");
    }
}
