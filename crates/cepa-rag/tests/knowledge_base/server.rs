//! An embedding server on the loopback that answers what it should not.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use axum::{Json, Router, http::StatusCode, routing::post};
use cepa_models::OpenAiEmbedding;
use cepa_rag::RagError;
use serde_json::{Value, json};

use crate::parts::{base, documents, folder, in_memory};

type Answer = Arc<dyn Fn(usize, usize) -> (StatusCode, Value) + Send + Sync>;

/// A server that answers by the number of the request and how many texts it holds.
async fn server(answer: Answer) -> (String, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let handler = move |Json(body): Json<Value>| async move {
        let texts = body["input"].as_array().map_or(1, Vec::len);
        let (status, body) = answer(count.fetch_add(1, SeqCst), texts);
        (status, Json(body))
    };
    let app = Router::new().route("/v1/embeddings", post(handler));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    (url, asked)
}

fn vectors(count: usize, dimensions: usize) -> (StatusCode, Value) {
    let data: Vec<Value> =
        (0..count).map(|index| json!({"index": index, "embedding": vec![0.5; dimensions]})).collect();
    (StatusCode::OK, json!({"data": data, "usage": {"prompt_tokens": count, "total_tokens": count}}))
}

fn model(url: &str) -> OpenAiEmbedding {
    OpenAiEmbedding::builder("e").base_url(url).max_retries(0).build().unwrap()
}

#[tokio::test]
async fn unchanged_documents_ask_the_server_nothing() {
    let folder = folder(&[("a.md", "Onions."), ("b.md", "Leeks.")]);
    let (url, asked) = server(Arc::new(|_, texts| vectors(texts, 4))).await;
    let store = in_memory();
    let base = base(&store).embedding_model(model(&url)).build().unwrap();
    let report = base.index_folder(folder.path()).await.unwrap();
    // One request more says how long the vectors are.
    assert_eq!((report.tokens, asked.load(SeqCst)), (2, 3));
    base.index_folder(folder.path()).await.unwrap();
    assert_eq!(asked.load(SeqCst), 3);
}

#[tokio::test]
async fn wrong_answers_are_told_and_nothing_is_kept() {
    let folder = folder(&[("a.md", "Onions.")]);
    let wrong: [(Answer, &str); 3] = [
        (Arc::new(|number, texts| vectors(texts + usize::from(number > 0), 4)), "texts"),
        (Arc::new(|number, texts| vectors(texts, if number == 0 { 4 } else { 5 })), "not of 5"),
        (
            Arc::new(|number, texts| {
                if number == 0 {
                    vectors(texts, 4)
                } else {
                    (StatusCode::BAD_REQUEST, json!({"error": {"message": "no such model"}}))
                }
            }),
            "no such model",
        ),
    ];
    for (answer, words) in wrong {
        let (url, _) = server(answer).await;
        let store = in_memory();
        let base = base(&store).embedding_model(model(&url)).build().unwrap();
        let told = match base.index_folder(folder.path()).await {
            Ok(report) => report.problems.iter().map(ToString::to_string).collect::<String>(),
            Err(error) => error.to_string(),
        };
        assert!(told.contains(words), "{told}");
        assert!(documents(&base).await.is_empty());
    }
}

#[tokio::test]
async fn a_server_that_is_busy_is_asked_again() {
    let folder = folder(&[("a.md", "Onions.")]);
    let busy = || (StatusCode::SERVICE_UNAVAILABLE, json!({"error": {"message": "busy"}}));
    let (url, asked) =
        server(Arc::new(move |number, texts| if number == 1 { busy() } else { vectors(texts, 4) })).await;
    let store = in_memory();
    let base = base(&store).embedding_model(model(&url)).build().unwrap();
    assert_eq!(base.index_folder(folder.path()).await.unwrap().added, 1);
    assert_eq!(asked.load(SeqCst), 3);
}

#[tokio::test]
async fn a_server_that_refuses_everything_ends_the_run() {
    let files: Vec<(String, String)> = (0..60).map(|n| (format!("{n}.md"), format!("Onion {n}."))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let folder = folder(&files);
    let refused: Arc<Mutex<usize>> = Arc::default();
    let count = refused.clone();
    let answer: Answer = Arc::new(move |number, texts| {
        if number == 0 {
            return vectors(texts, 4);
        }
        *count.lock().unwrap() += 1;
        (StatusCode::UNAUTHORIZED, json!({"error": {"message": "wrong key"}}))
    });
    let (url, _) = server(answer).await;
    let store = in_memory();
    let base = base(&store).embedding_model(model(&url)).build().unwrap();
    let error = base.index_folder(folder.path()).await.unwrap_err();
    assert!(matches!(error, RagError::Model(_)), "{error}");
    assert!(*refused.lock().unwrap() < 20);
}
