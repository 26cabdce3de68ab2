//! Requests that a model sends again by itself, within one call.

use std::time::Duration;

use cepa_models::OpenAiChat;
use cepa_tracing::{SessionUsage, TracingMiddleware, UsageMiddleware};
use opentelemetry::trace::Status;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpListener,
};

use crate::support::{Collector, attribute, traced};

const KEY: &str = "sk-0123456789-very-secret";

/// A server that gives these answers, a connection each. Its URL.
async fn serve(answers: Vec<String>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        for answer in answers {
            let (connection, _) = listener.accept().await.unwrap();
            let mut connection = BufReader::new(connection);
            let (mut line, mut length) = (String::new(), 0);
            while connection.read_line(&mut line).await.unwrap() > 2 {
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            connection.read_exact(&mut vec![0; length]).await.unwrap();
            connection.write_all(answer.as_bytes()).await.unwrap();
            connection.shutdown().await.unwrap();
        }
    });
    url
}

fn answer(status: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

fn busy() -> String {
    answer("503 Busy", &format!(r#"{{"error": {{"message": "words of the server: {KEY}"}}}}"#))
}

#[tokio::test]
async fn what_a_model_sends_again_by_itself_is_in_the_span_of_its_call() {
    let collector =
        Collector::taking(|metadata| metadata.is_span() || metadata.target().starts_with("cepa_models"));
    let _guard = tracing::dispatcher::set_default(&collector.dispatch);
    let good = r#"{"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 5, "completion_tokens": 1}}"#;
    let url = serve(vec![busy(), busy(), answer("200 OK", good)]).await;
    let model = OpenAiChat::builder("m").base_url(&url).api_key(KEY).retry_delay(Duration::from_millis(1));
    let mut agent = traced(model.build().unwrap(), TracingMiddleware::new())
        .middleware(UsageMiddleware::new())
        .build()
        .unwrap();
    agent.reply("Go").await.unwrap();

    let spans = collector.spans();
    let chat = spans.one("chat m");
    assert_eq!(chat.status, Status::Ok);
    assert_eq!(attribute(chat, "http.request.resend_count"), "2");
    let events: Vec<_> = chat.events.iter().filter(|event| event.name.contains("trying again")).collect();
    assert_eq!(events.len(), 2, "{:?}", chat.events);
    for (event, attempt) in events.iter().zip(["1", "2"]) {
        let value = |name: &str| {
            let found = event.attributes.iter().find(|attribute| attribute.key.as_str() == name);
            found.map_or_else(String::new, |attribute| attribute.value.to_string())
        };
        assert_eq!((&*value("attempt"), &*value("error_type")), (attempt, "upstream"));
        assert!(value("wait").ends_with('s'), "{:?}", event.attributes);
    }
    let words = spans.words();
    assert!(!words.contains("words of the server") && !words.contains(KEY), "{words}");

    // It is one call of the model.
    let usage: SessionUsage = UsageMiddleware::of(&agent.state().unwrap()).unwrap();
    assert_eq!(usage.sums.total.calls, 1);
}

#[tokio::test]
async fn a_call_that_was_sent_once_says_nothing_of_it() {
    let (collector, _guard) = Collector::listening();
    let url = serve(vec![answer("200 OK", r#"{"choices": [{"message": {"content": "Hi"}}]}"#)]).await;
    let model = OpenAiChat::builder("m").base_url(&url).api_key(KEY).build().unwrap();
    let mut agent = traced(model, TracingMiddleware::new()).build().unwrap();
    agent.reply("Go").await.unwrap();
    assert_eq!(attribute(collector.spans().one("chat m"), "http.request.resend_count"), "");
}
