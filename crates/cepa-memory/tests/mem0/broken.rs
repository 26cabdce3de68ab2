//! Servers that are not well.

use std::time::{Duration, Instant};

use axum::{Router, http::StatusCode};
use cepa_core::testing::{Logged, ScriptedModel};
use cepa_memory::mem0::{Mem0Middleware, Mem0Server};
use tokio::{io::AsyncReadExt, net::TcpListener};

use crate::support::{agent, hints, serve};

/// How long a reply may wait for memories.
const DEADLINE: Duration = Duration::from_millis(300);

/// A reply with a memory at this URL: it answers, in time, and the log says once what is wrong.
async fn check(url: &str, reason: &str) {
    let warnings = Logged::warnings("cepa_memory");
    let server = Mem0Server::builder(url).build().unwrap();
    let memory = Mem0Middleware::builder(server)
        .user_id("alice")
        .search_deadline(DEADLINE)
        .write_deadline(DEADLINE)
        .build()
        .unwrap();
    let memory = std::sync::Arc::new(memory);
    let model = ScriptedModel::new(["Hello."]);
    let start = Instant::now();
    let msg = agent(&model, memory.clone()).build().unwrap().reply("Hi").await.unwrap();
    // The rest is for a busy machine.
    assert!(start.elapsed() < DEADLINE + Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(msg.text().as_deref(), Some("Hello."));
    assert!(hints(&model).is_empty());
    let said = warnings.lines();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains(reason), "{said:?}");
    memory.flush(Duration::from_secs(60)).await.unwrap();
    // The write has failed as well.
    let said = warnings.lines();
    assert_eq!(said.len(), 1, "{said:?}");
}

#[tokio::test]
async fn a_server_that_hangs() {
    let hangs = Router::new().fallback(std::future::pending::<()>);
    check(&serve(hangs).await, "300ms").await;
}

#[tokio::test]
async fn a_server_that_answers_500() {
    let router = Router::new().fallback(async || (StatusCode::INTERNAL_SERVER_ERROR, "no\ndatabase"));
    check(&serve(router).await, "(500): no database").await;
}

#[tokio::test]
async fn a_server_that_talks_nonsense() {
    check(&serve(Router::new().fallback(async || "<html>")).await, "no JSON").await;
    check(&serve(Router::new().fallback(async || "{\"ok\": true}")).await, "`results`").await;
    check(&serve(Router::new().fallback(async || "7")).await, "`results`").await;
}

#[tokio::test]
async fn a_server_that_vanishes() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // It takes each question and hangs up.
    let serving = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            _ = stream.read(&mut [0; 64]).await;
        }
    });
    check(&url, "is not reached").await;
    serving.abort();
    _ = serving.await;
    check(&url, "is not reached").await;
}

#[test]
fn a_url_that_is_none_is_refused_with_a_better_one() {
    let error = Mem0Server::builder("127.0.0.1:8000").build().unwrap_err().to_string();
    assert!(error.contains("http://127.0.0.1:8000"), "{error}");
}
