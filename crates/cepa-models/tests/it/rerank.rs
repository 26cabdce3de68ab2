//! Reranking over HTTP.

use std::time::Duration;

use cepa_core::ErrorType;
use cepa_models::{ConfigError, HttpRerank, HttpRerankBuilder, RerankModel};
use serde_json::{Value, json};

use crate::server::{Answer, Server};

fn model(server: &Server) -> HttpRerankBuilder {
    HttpRerank::builder("r").base_url(&server.url).retry_delay(Duration::from_millis(1))
}

fn documents() -> Vec<String> {
    ["a", "b", "c"].map(str::to_owned).to_vec()
}

fn answer(entries: &[(i64, f64)]) -> Answer {
    let results: Vec<Value> =
        entries.iter().map(|(index, score)| json!({"index": index, "relevance_score": score})).collect();
    Answer::json(200, &json!({"model": "r", "results": results}))
}

#[tokio::test]
async fn documents_come_back_by_relevance() {
    let server = Server::start([answer(&[(0, 0.1), (2, 0.9), (1, 0.5)])]).await;
    let model = model(&server).api_key("k").build().unwrap();
    let ranked = model.rerank("q", &documents(), 2).await.unwrap();
    assert_eq!(ranked.iter().map(|ranked| ranked.index).collect::<Vec<_>>(), [2, 1]);
    let asked = server.asked();
    assert_eq!(asked[0].path, "/v1/rerank");
    assert_eq!(asked[0].headers["authorization"], "Bearer k");
    assert_eq!(asked[0].body, json!({"model": "r", "query": "q", "documents": ["a", "b", "c"], "top_n": 2}));
}

#[tokio::test]
async fn no_documents_ask_nobody() {
    let server = Server::start([answer(&[])]).await;
    assert!(model(&server).build().unwrap().rerank("q", &[], 5).await.unwrap().is_empty());
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn a_busy_server_is_asked_again() {
    let server = Server::start([Answer::json(503, &json!({})), answer(&[(1, 0.9)])]).await;
    let ranked = model(&server).build().unwrap().rerank("q", &documents(), 5).await.unwrap();
    assert_eq!(ranked[0].index, 1);
    assert_eq!(server.asked()[1].body["top_n"], 3);
}

#[tokio::test]
async fn answers_that_do_not_fit_are_errors() {
    let cases = [
        (answer(&[(0, 0.9), (3, 0.8)]), "document 3 of 3"),
        (answer(&[(0, 0.9), (0, 0.8)]), "document 0 twice"),
        (answer(&[(-1, 0.9)]), "no ranking"),
        (Answer::json(200, &json!({"results": [{"index": 0}]})), "no ranking"),
        (Answer::json(200, &json!({"error": {"message": "no such model"}})), "no such model"),
        (Answer::new(200, "text/html", "<title>Hi</title>"), "Hi"),
        (Answer::json(500, &json!({"error": {"message": "out of order"}})), "out of order"),
    ];
    for (answer, words) in cases {
        let server = Server::start([answer]).await;
        let model = model(&server).max_retries(0).build().unwrap();
        let error = model.rerank("q", &documents(), 3).await.unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.info().kind, ErrorType::Upstream, "{error}");
    }
}

#[tokio::test]
async fn a_server_that_hangs_is_given_up() {
    let server = Server::start([Answer::never()]).await;
    let model = model(&server).max_retries(0).idle_timeout(Duration::from_millis(50)).build().unwrap();
    let error = model.rerank("q", &documents(), 3).await.unwrap_err();
    assert_eq!(error.info().kind, ErrorType::Connection, "{error}");
}

#[test]
fn jina_takes_nobody_without_a_key() {
    let error = HttpRerank::builder("r").build().unwrap_err();
    assert!(matches!(error, ConfigError::NoKey { variable: "JINA_API_KEY", .. }), "{error}");
    assert!(matches!(HttpRerank::builder(" ").build(), Err(ConfigError::NoName)));
}
