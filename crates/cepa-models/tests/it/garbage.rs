//! Servers that send what is no answer at all.

use std::time::Duration;

use cepa_core::ErrorType;
use proptest::prelude::*;
use serde_json::json;

use crate::{
    chat::{ask, model},
    server::{Answer, Server, delta, finish},
};

/// What the caller is told of this answer.
async fn told(answer: Answer) -> (ErrorType, String) {
    let server = Server::start([answer]).await;
    let model = model(&server).max_event_bytes(4096).max_body_bytes(8192).max_retries(0).build().unwrap();
    let error = ask(&model).await.expect_err("garbage");
    (error.info().kind, error.to_string())
}

#[tokio::test]
async fn garbage_is_told_in_the_servers_words() {
    let page = "<html><head><title>Welcome to nginx!</title></head><body>data: here</body></html>";
    let cases = [
        (Answer::new(200, "text/html", page), "Welcome to nginx!"),
        (Answer::new(502, "text/html", page), "Welcome to nginx!"),
        (Answer::new(200, "text/plain", "just words"), "just words"),
        (Answer::new(503, "text/plain", "upstream connect error"), "upstream connect error"),
        (Answer::new(200, "application/json", "{\"choices\": [{\"delta\""), "{\"choices\": [{\"delta\""),
        (Answer::json(200, &json!({"hello": "world"})), "\"hello\""),
        (Answer::json(200, &json!({"choices": []})), "choices"),
        (Answer::json(200, &json!({"choices": "none"})), "none"),
        (Answer::json(200, &json!([1, 2])), "[1,2]"),
        (Answer::sse("data: not json\n\n"), "not json"),
        (Answer::sse("data: 5\n\n"), "5"),
        (Answer::sse(""), "empty"),
        (Answer::sse(&b"\xff\xfe\x00\x01"[..]), "not JSON"),
    ];
    for (answer, words) in cases {
        let what = format!("{answer:?}");
        let (kind, message) = told(answer).await;
        assert_eq!(kind, ErrorType::Upstream, "{what}");
        assert!(message.contains(words), "{what}: {message}");
        assert!(message.len() < 1000, "{message}");
    }
}

#[tokio::test]
async fn too_much_is_not_taken() {
    let text = "x".repeat(5000);
    let (_, message) = told(Answer::sse(delta(&json!({"content": text})))).await;
    assert!(message.contains("max_event_bytes"), "{message}");
    let (_, message) = told(Answer::sse("y".repeat(5000))).await;
    assert!(message.contains("max_event_bytes"), "{message}");
    let many = delta(&json!({"content": "x".repeat(1000)})).repeat(10);
    let (_, message) = told(Answer::sse(many)).await;
    assert!(message.contains("max_body_bytes"), "{message}");
    let (_, message) = told(Answer::json(200, &json!({"x": "x".repeat(9000)}))).await;
    assert!(message.contains("max_body_bytes"), "{message}");
}

#[tokio::test]
async fn a_call_without_a_name_is_an_error() {
    let piece = json!({"tool_calls": [{"index": 0, "id": "a", "function": {"arguments": "{}"}}]});
    let (kind, message) = told(Answer::sse(delta(&piece) + &finish("tool_calls"))).await;
    assert_eq!(kind, ErrorType::Upstream);
    assert!(message.contains("without the tool's name"), "{message}");
}

#[test]
fn any_bytes_end() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let server = runtime.block_on(Server::start([Answer::sse("")]));
    let model = model(&server).max_retries(0).build().unwrap();
    let line = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        Just(b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n".to_vec()),
        Just(
            b"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"x\"}}]}}]}\n\n"
                .to_vec()
        ),
        Just(b"data: [DONE]\n\n".to_vec()),
        Just(b"data: null\r\n\r\n".to_vec()),
        Just(b"event: error\n".to_vec()),
    ];
    let body = prop::collection::vec(line, 0..8).prop_map(|lines| lines.concat());
    let config = ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(body in body, length in 1usize..50)| {
        server.set(Answer::sse(body).in_pieces_of(length));
        let end = runtime.block_on(async { tokio::time::timeout(Duration::from_secs(10), ask(&model)).await });
        prop_assert!(end.is_ok(), "hangs");
    });
}
