//! Embeddings over HTTP.

use std::time::Duration;

use cepa_core::ErrorType;
use cepa_models::{EmbeddingModel, OpenAiEmbedding, OpenAiEmbeddingBuilder};
use serde_json::{Value, json};

use crate::server::{Answer, Server};

fn model(server: &Server) -> OpenAiEmbeddingBuilder {
    OpenAiEmbedding::builder("e").base_url(&server.url).retry_delay(Duration::from_millis(1)).concurrency(1)
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn answer(entries: &[(u64, [f32; 2])]) -> Answer {
    let data: Vec<Value> =
        entries.iter().map(|(index, vector)| json!({"index": index, "embedding": vector})).collect();
    Answer::json(200, &json!({"data": data, "usage": {"prompt_tokens": 3, "total_tokens": 3}}))
}

#[tokio::test]
async fn batches_come_back_in_order() {
    let server =
        Server::start([answer(&[(1, [3.0, 4.0]), (0, [1.0, 2.0])]), answer(&[(0, [5.0, 6.0])])]).await;
    let model = model(&server).batch_size(2).build().unwrap();
    let embeddings = model.embed(&texts(&["a", "", "c"])).await.unwrap();
    assert_eq!(embeddings.vectors, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    assert_eq!(embeddings.tokens, Some(6));
    let asked = server.asked();
    assert_eq!(asked[0].path, "/v1/embeddings");
    assert_eq!(asked[0].body, json!({"model": "e", "input": ["a", " "]}));
    assert_eq!(asked[1].body["input"], json!(["c"]));
}

#[tokio::test]
async fn no_texts_ask_nobody() {
    let server = Server::start([answer(&[])]).await;
    assert!(model(&server).build().unwrap().embed(&[]).await.unwrap().vectors.is_empty());
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn a_busy_server_is_asked_again() {
    let server = Server::start([Answer::json(503, &json!({})), answer(&[(0, [1.0, 2.0])])]).await;
    let model = model(&server).request_dimensions(2).build().unwrap();
    assert_eq!(model.embed(&texts(&["a"])).await.unwrap().vectors.len(), 1);
    assert_eq!(server.asked()[1].body["dimensions"], 2);
}

#[tokio::test]
async fn answers_that_do_not_fit_are_errors() {
    let cases = [
        (answer(&[(0, [1.0, 2.0])]), "1 texts of 2"),
        (answer(&[(0, [1.0, 2.0]), (0, [1.0, 2.0])]), "2 texts of 2"),
        (answer(&[(0, [1.0, 2.0]), (9, [1.0, 2.0])]), "2 texts of 2"),
        (
            Answer::json(200, &json!({"data": [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}]})),
            "a vector of 2",
        ),
        (Answer::json(200, &json!({"error": {"message": "no such model"}})), "no such model"),
        (Answer::new(200, "text/html", "<title>Hi</title>"), "Hi"),
    ];
    for (answer, words) in cases {
        let server = Server::start([answer]).await;
        let error =
            model(&server).max_retries(0).build().unwrap().embed(&texts(&["a", "b"])).await.unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.info().kind, ErrorType::Upstream);
    }
    let server = Server::start([answer(&[(0, [1.0, 2.0])])]).await;
    let error = model(&server).dimensions(3).build().unwrap().embed(&texts(&["a"])).await.unwrap_err();
    assert!(error.to_string().contains("not 3"), "{error}");
}
