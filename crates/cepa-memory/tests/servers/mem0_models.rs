//! The models that the real engine asks: an OpenAI-compatible server that follows a script.

use std::hash::{DefaultHasher, Hash, Hasher};

use axum::{Json, Router, routing::post};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Serves embeddings by words, and picks these facts out of what it is shown: each is a word and what follows from it.
pub(crate) async fn serve(facts: &'static [(&'static str, &'static str)]) -> String {
    let router = Router::new()
        .route("/v1/embeddings", post(|Json(body): Json<Value>| async move { Json(embeddings(&body)) }))
        .route(
            "/v1/chat/completions",
            post(move |Json(body): Json<Value>| async move { Json(chat(&body, facts)) }),
        );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

fn embeddings(body: &Value) -> Value {
    let texts = match &body["input"] {
        Value::Array(texts) => texts.clone(),
        text => vec![text.clone()],
    };
    let one = |(index, text): (usize, &Value)| json!({"object": "embedding", "index": index, "embedding": embedding(text.as_str().unwrap_or_default())});
    let data: Vec<_> = texts.iter().enumerate().map(one).collect();
    json!({"object": "list", "model": "words", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}})
}

/// Texts that share words are near each other.
fn embedding(text: &str) -> Vec<f64> {
    let mut vector = vec![0.0_f64; 384];
    vector[0] = 0.01; // A text without words has a place, too.
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let mut hasher = DefaultHasher::new();
        word.hash(&mut hasher);
        vector[hasher.finish() as usize % 384] += 1.0;
    }
    let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    vector.into_iter().map(|x| x / length).collect()
}

fn chat(body: &Value, facts: &[(&str, &str)]) -> Value {
    let shown = body["messages"].as_array().and_then(|messages| messages.last()).cloned().unwrap_or_default();
    let shown = shown["content"].to_string();
    let picked = facts.iter().filter(|(word, _)| shown.contains(word));
    let memory: Vec<_> =
        picked.enumerate().map(|(id, (_, fact))| json!({"id": id.to_string(), "text": fact})).collect();
    let content = json!({"memory": memory}).to_string();
    json!({
        "id": "c1", "object": "chat.completion", "created": 0, "model": "scripted",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    })
}
