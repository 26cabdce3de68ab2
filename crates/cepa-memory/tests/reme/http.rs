//! Services over HTTP that do not do what they should.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{Json, Router, extract::State, http::StatusCode, response::IntoResponse, routing::get};
use cepa_core::{
    serde_json::{Map, json},
    testing::{Answer, Logged, ScriptedModel},
};
use cepa_memory::{ReMe, ReMeError, ReMeMiddleware, ReMeService};
use tokio::net::TcpListener;

use crate::support::{builder, flush};

/// What is wrong with a service.
#[derive(Clone, Copy, Debug)]
enum Wrong {
    Hangs,
    Answers500,
    IsNoJson,
    IsOtherJson,
    HasNoJobs,
    Fails,
}

async fn answer(State(wrong): State<Wrong>) -> axum::response::Response {
    match wrong {
        Wrong::Hangs => std::future::pending().await,
        Wrong::Answers500 => (StatusCode::INTERNAL_SERVER_ERROR, "boom").into_response(),
        Wrong::IsNoJson => "<html>".into_response(),
        Wrong::IsOtherJson => Json(json!([1, {"success": "yes"}])).into_response(),
        Wrong::HasNoJobs => (StatusCode::NOT_FOUND, Json(json!({"detail": "Not Found"}))).into_response(),
        Wrong::Fails => {
            Json(json!({"success": false, "answer": "disk full", "metadata": {}})).into_response()
        }
    }
}

async fn api() -> Json<serde_json::Value> {
    Json(json!({"paths": {"/search": {}, "/version": {}}}))
}

async fn service(wrong: Wrong) -> ReMeService {
    let app = Router::new().route("/openapi.json", get(api)).fallback(answer).with_state(wrong);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    ReMeService::builder(url).build().unwrap()
}

/// A service that has gone: nobody listens there.
async fn vanished() -> ReMeService {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    ReMeService::builder(format!("http://{}", listener.local_addr().unwrap())).build().unwrap()
}

const DEADLINE: Duration = Duration::from_millis(200);
/// What a loaded machine may take for everything else.
const SLACK: Duration = Duration::from_secs(5);

/// Three turns of an agent that waits for its memory. Returns what the log said.
async fn three_turns(service: ReMeService) -> Logged {
    let warnings = Logged::warnings("cepa_memory");
    let layer = ReMeMiddleware::builder(service)
        .search_deadline(DEADLINE)
        .write_deadline(DEADLINE)
        .wait_up_to(Duration::from_secs(3600))
        .build()
        .unwrap();
    let layer = Arc::new(layer);
    let model = ScriptedModel::answering(|_| Answer::new().text("ok"));
    let mut agent = builder(&model, &layer).build().unwrap();
    for _ in 0..3 {
        let start = Instant::now();
        let msg = agent.reply("hi").await.unwrap();
        assert!(start.elapsed() < DEADLINE + SLACK, "{:?}", start.elapsed());
        assert_eq!(msg.text().as_deref(), Some("ok"));
        flush(&layer).await;
    }
    warnings
}

#[tokio::test]
async fn a_service_in_trouble_ends_no_reply_and_is_in_the_log_once() {
    let services = [
        (service(Wrong::Hangs).await, "has not ended within 200ms"),
        (service(Wrong::Answers500).await, "refuses (500): boom"),
        (service(Wrong::IsNoJson).await, "no JSON"),
        (service(Wrong::IsOtherJson).await, "does not say whether it succeeded"),
        (vanished().await, "is not reached"),
    ];
    for (service, says) in services {
        let lines = three_turns(service).await.take();
        assert_eq!(lines.len(), 1, "{lines:#?}");
        assert!(lines[0].contains(says), "{lines:#?}");
    }
}

#[tokio::test]
async fn a_job_that_reports_a_failure_under_status_200_has_failed() {
    let service = service(Wrong::Fails).await;
    let error = service.run("auto_memory", Map::new()).await.unwrap_err();
    assert!(matches!(&error, ReMeError::Failed { words, .. } if words == "disk full"), "{error:?}");
    // Each of the two jobs has failed for itself.
    let lines = three_turns(service).await.take();
    assert_eq!(lines.len(), 2, "{lines:#?}");
}

#[tokio::test]
async fn r46_a_job_that_is_missing_is_an_error_at_the_start_and_not_with_every_turn() {
    let service = service(Wrong::HasNoJobs).await;
    let error = ReMeMiddleware::builder(service.clone()).connect().await.unwrap_err();
    assert!(matches!(&error, ReMeError::NoSuchJob { job } if job == "auto_memory"), "{error:?}");
    // Whoever does not ask at the start is told once.
    let lines = three_turns(service).await.take();
    let about = |job: &str| lines.iter().filter(|line| line.contains(&format!("no job `{job}`"))).count();
    assert_eq!((lines.len(), about("search"), about("auto_memory")), (2, 1, 1), "{lines:#?}");
}

#[tokio::test]
async fn a_service_that_is_not_there_is_an_error_at_the_start() {
    let error = ReMeMiddleware::builder(vanished().await).connect().await.unwrap_err();
    assert!(error.to_string().contains("is not reached"), "{error}");
}

#[test]
fn a_password_in_a_url_is_not_shown() {
    let builder = ReMeService::builder("http://admin:hunter22@127.0.0.1:8002/");
    for told in [format!("{builder:?}"), format!("{:?}", builder.clone().build().unwrap())] {
        assert!(told.contains("127.0.0.1:8002") && !told.contains("hunter22"), "{told}");
    }
}

#[tokio::test]
async fn a_name_that_leads_elsewhere_is_no_job() {
    let service = service(Wrong::Fails).await;
    for job in ["", "../search", "http://127.0.0.1:1/search", "search?x=1"] {
        let error = service.run(job, Map::new()).await.unwrap_err();
        assert!(matches!(error, ReMeError::NoSuchJob { .. }), "{job}: {error:?}");
    }
}
