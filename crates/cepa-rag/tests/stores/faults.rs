//! Servers that are not well.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    Json, Router,
    http::StatusCode,
    routing::{get, put},
};
use cepa_rag::{ChromaStore, Collection, PgVectorStore, QdrantStore, RagError, SearchRequest, VectorStore};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use crate::data::record;

const DEADLINE: Duration = Duration::from_millis(300);

async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

/// The stores that speak HTTP, at this URL.
fn stores(url: &str) -> [Arc<dyn VectorStore>; 2] {
    [
        Arc::new(ChromaStore::builder(url).api_key("secret-key").deadline(DEADLINE).build().unwrap()),
        Arc::new(QdrantStore::builder(url).api_key("secret-key").deadline(DEADLINE).build().unwrap()),
    ]
}

/// Whatever is asked, it fails in time, for this reason.
async fn check(store: &dyn VectorStore, is_transient: bool, reason: &str) {
    let collection = Collection::new("notes", 2).unwrap();
    let vector = [1.0, 0.0];
    for what in 0..6 {
        let start = Instant::now();
        let result = match what {
            0 => store.ensure_collection(&collection).await,
            1 => store.insert(&collection, vec![record("doc", "1", 0, 1, vec![1.0, 0.0])]).await,
            2 => store.delete(&collection, "doc", None, None).await,
            3 => store.search(&collection, SearchRequest::vector(&vector, 5)).await.map(drop),
            4 => store.list_documents(&collection, None).await.map(drop),
            _ => store.list_chunks(&collection, "doc", 0, 5, None).await.map(drop),
        };
        let error = result.unwrap_err();
        assert_eq!(error.is_transient(), is_transient, "{what}: {error:?}");
        let said = error.to_string();
        assert!(said.starts_with(&format!("{}: ", store.name())) && said.contains(reason), "{what}: {said}");
        assert!(!format!("{store:?} {error:?}").contains("secret"), "{store:?} {error:?}");
        // The rest is for a busy machine.
        assert!(start.elapsed() < DEADLINE + Duration::from_secs(5), "{what}: {:?}", start.elapsed());
    }
}

#[tokio::test]
async fn a_server_that_hangs() {
    let url = serve(Router::new().fallback(std::future::pending::<()>)).await;
    for store in stores(&url) {
        check(&*store, true, "300ms").await;
    }
}

#[tokio::test]
async fn a_server_that_fails_or_is_busy() {
    let fails =
        Router::new().fallback(async || (StatusCode::INTERNAL_SERVER_ERROR, "no disk for secret-key"));
    for store in stores(&serve(fails).await) {
        check(&*store, true, "(500): no disk for [key]").await;
    }
    let busy = Router::new().fallback(async || (StatusCode::TOO_MANY_REQUESTS, "slower"));
    for store in stores(&serve(busy).await) {
        check(&*store, true, "(429): slower").await;
    }
    let refuses = Router::new().fallback(async || (StatusCode::FORBIDDEN, "who is this"));
    for store in stores(&serve(refuses).await) {
        check(&*store, false, "(403): who is this").await;
    }
}

#[tokio::test]
async fn a_server_that_talks_nonsense() {
    for store in stores(&serve(Router::new().fallback(async || "<html>")).await) {
        check(&*store, false, "no JSON").await;
    }
    let other = Router::new().fallback(async || Json(json!({"ok": true})));
    for store in stores(&serve(other).await) {
        let collection = Collection::new("notes", 2).unwrap();
        let error = store.search(&collection, SearchRequest::vector(&[1.0, 0.0], 5)).await.unwrap_err();
        assert!(matches!(error, RagError::Service { is_transient: false, .. }), "{error:?}");
        let error = store.list_documents(&collection, None).await.unwrap_err();
        assert!(error.to_string().contains("something else than was expected"), "{error}");
        store.insert(&collection, vec![record("doc", "1", 0, 1, vec![1.0, 0.0])]).await.unwrap_err();
    }
}

#[tokio::test]
async fn a_server_that_vanishes_in_the_middle_of_an_insert() {
    // The second batch gets no answer, nor does anything after it.
    let batches = Arc::new(AtomicUsize::new(0));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = tokio::spawn({
        let batches = batches.clone();
        async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut read = vec![0; 1 << 16];
                while stream.read(&mut read).await.is_ok_and(|count| count > 0) {
                    if batches.fetch_add(1, Ordering::SeqCst) == 1 {
                        return;
                    }
                    let body = r#"{"result":{"operation_id":1,"status":"completed"},"status":"ok"}"#;
                    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
                    stream.write_all((head + body).as_bytes()).await.unwrap();
                }
            }
        }
    });
    let store = QdrantStore::builder(&url).batch_size(2).deadline(DEADLINE).build().unwrap();
    let collection = Collection::new("notes", 2).unwrap();
    let records = (0..6).map(|at| record("doc", "1", at, 6, vec![1.0, 0.0])).collect();
    let error = store.insert(&collection, records).await.unwrap_err();
    assert!(error.is_transient() && error.to_string().contains("is not reached"), "{error:?}");
    serving.await.unwrap();
    assert_eq!(batches.load(Ordering::SeqCst), 2);
    for store in stores(&url) {
        check(&*store, true, "is not reached").await;
    }
}

#[tokio::test]
async fn a_write_that_is_not_finished_is_not_taken_for_one_that_is() {
    let answer = json!({"result": {"operation_id": 1, "status": "acknowledged"}, "status": "ok"});
    let url = serve(Router::new().fallback(async move || Json(answer))).await;
    let store = QdrantStore::builder(&url).build().unwrap();
    let collection = Collection::new("notes", 2).unwrap();
    let error = store.insert(&collection, vec![record("doc", "1", 0, 1, vec![1.0, 0.0])]).await.unwrap_err();
    assert!(error.is_transient() && error.to_string().contains("acknowledged"), "{error:?}");
}

#[tokio::test]
async fn a_database_that_hangs_or_is_not_there() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let url = format!("postgres://cepa:secret-password@{address}/knowledge?sslmode=disable");
    let store = || PgVectorStore::builder(&url).deadline(DEADLINE).build().unwrap();
    // It accepts, and says nothing.
    let serving = tokio::spawn(async move {
        let mut streams = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            streams.push(stream);
        }
    });
    check(&store(), true, "").await;
    serving.abort();
    _ = serving.await;
    check(&store(), true, "refused").await;
    assert!(!format!("{:?}", PgVectorStore::builder(&url)).contains("secret"));
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let settings = |result: Result<(), RagError>, words: &str| match result {
        Err(RagError::Settings(reason)) => {
            assert!(reason.contains(words) && !reason.contains("secret"), "{reason}");
        }
        other => panic!("{other:?}"),
    };
    settings(ChromaStore::builder("127.0.0.1:8000").build().map(drop), "http://");
    settings(ChromaStore::builder("http://127.0.0.1:8000").tenant("a/b").build().map(drop), "tenant");
    settings(QdrantStore::builder("http://127.0.0.1:6333").batch_size(0).build().map(drop), "batches");
    settings(QdrantStore::builder("http://127.0.0.1:6333").shard_number(0).build().map(drop), "shard_number");
    settings(QdrantStore::builder("http://127.0.0.1:6333").api_key("a\nb").build().map(drop), "key");
    settings(PgVectorStore::builder("http://cepa:secret@127.0.0.1").build().map(drop), "postgres://");
    let postgres = || PgVectorStore::builder("postgres://cepa:secret@127.0.0.1/knowledge");
    settings(postgres().schema("a\"b").build().map(drop), "schema");
    settings(postgres().schema("pg_own").build().map(drop), "pg_");
    settings(postgres().deadline(Duration::ZERO).build().map(drop), "deadline");
    settings(postgres().connections(0).build().map(drop), "connections");
}

#[tokio::test]
async fn a_collection_of_a_cluster_is_made_as_it_was_set() {
    let made = Arc::<Mutex<Option<Value>>>::default();
    let (makes, known) = (made.clone(), made.clone());
    let collection = get(move || async move {
        let params = json!({"vectors": {"size": 2, "distance": "Cosine"}});
        match &*known.lock().unwrap() {
            None => (StatusCode::NOT_FOUND, Json(json!({}))),
            Some(_) => (StatusCode::OK, Json(json!({"result": {"config": {"params": params}}}))),
        }
    })
    .put(move |Json(body): Json<Value>| async move {
        *makes.lock().unwrap() = Some(body);
        Json(json!({"result": true}))
    });
    let index = put(|| async { Json(json!({"result": {"status": "completed"}})) });
    let router =
        Router::new().route("/collections/notes", collection).route("/collections/notes/index", index);
    let store = QdrantStore::builder(serve(router).await)
        .shard_number(6)
        .replication_factor(2)
        .write_consistency_factor(2)
        .build()
        .unwrap();
    store.ensure_collection(&Collection::new("notes", 2).unwrap()).await.unwrap();
    let body = made.lock().unwrap().clone().unwrap();
    let expected = json!({
        "vectors": {"size": 2, "distance": "Cosine"},
        "shard_number": 6, "replication_factor": 2, "write_consistency_factor": 2,
    });
    assert_eq!(body, expected);
}
