//! An embedding server on the loopback that answers what it should not.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use axum::{Json, Router, http::StatusCode, routing::post};
use cepa_models::OpenAiEmbedding;
use cepa_rag::{IndexReport, RagError};
use serde_json::{Value, json};

use crate::parts::{base, documents, folder, in_memory, write};

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

/// What becomes of so many files where the server answers everything but the first request so.
async fn refused(files: usize, status: StatusCode) -> (Result<IndexReport, RagError>, usize) {
    let folder = folder(&[]);
    (0..files).for_each(|n| write(folder.path(), &format!("{n}.md"), format!("Onion {n}.")));
    let answer: Answer = Arc::new(move |number, texts| match number {
        0 => vectors(texts, 4),
        _ => (status, json!({"error": {"message": "not so"}})),
    });
    let (url, asked) = server(answer).await;
    let store = in_memory();
    let base = base(&store).embedding_model(model(&url)).build().unwrap();
    let report = base.index_folder(folder.path()).await;
    (report, asked.load(SeqCst))
}

#[tokio::test]
async fn a_server_that_refuses_everything_ends_the_run() {
    let (report, asked) = refused(60, StatusCode::BAD_REQUEST).await;
    let error = report.unwrap_err();
    assert!(matches!(error, RagError::Model(_)), "{error}");
    assert!((10..20).contains(&asked), "{asked}");
}

#[tokio::test]
async fn a_key_that_is_refused_is_about_no_document() {
    for status in [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN] {
        let (report, asked) = refused(5, status).await;
        let error = report.unwrap_err();
        assert!(matches!(error, RagError::Model(_)) && error.to_string().contains("not so"), "{error}");
        assert!(asked < 7, "{asked}");
    }
}

#[tokio::test]
async fn texts_that_are_refused_here_and_there_end_nothing() {
    let folder = folder(&[]);
    (0..60).for_each(|n| write(folder.path(), &format!("{n:02}.md"), format!("Onion {n}.")));
    // Nine of ten.
    let answer: Answer = Arc::new(|number, texts| match number % 10 {
        0 => vectors(texts, 4),
        _ => (StatusCode::BAD_REQUEST, json!({"error": {"message": "not so"}})),
    });
    let (url, _) = server(answer).await;
    let store = in_memory();
    let base = base(&store).embedding_model(model(&url)).concurrency(1).build().unwrap();
    let report = base.index_folder(folder.path()).await.unwrap();
    // The first answer says how long vectors are.
    assert_eq!((report.added, report.problems.len()), (6, 54));
}
