//! Qdrant's routes, in a process of their own: its server is in no registry of packages, and the local mode of its
//! client executes what the server would.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    sync::Arc,
};

use cepa_rag::{Collection, QdrantStore, RagError, VectorStore};

use crate::{
    process::{Server, interpreter},
    suite,
};

const KEY: &str = "key-of-the-test";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn qdrant_keeps_and_finds_as_every_store() {
    let Some(python) = interpreter("CEPA_QDRANT") else { return };
    let mut process = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/qdrant_server.py"))
        .arg(KEY)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut port = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let server = Server { process, port: port.trim().parse().unwrap() };
    let url = format!("http://127.0.0.1:{}", server.port);
    let store = || QdrantStore::builder(&url).api_key(KEY).exact(true).build().unwrap();
    suite::run(Arc::new(store()), Arc::new(store())).await;

    let stranger = QdrantStore::builder(&url).api_key("wrong-key").build().unwrap();
    let collection = Collection::new("nothing", 3).unwrap();
    let error = stranger.ensure_collection(&collection).await.unwrap_err();
    assert!(matches!(error, RagError::Service { is_transient: false, .. }), "{error:?}");
    assert!(
        error.to_string().contains("API key") && !format!("{stranger:?} {error:?}").contains("wrong-key")
    );
    let error = store().list_documents(&collection, None).await.unwrap_err();
    assert!(error.to_string().contains("nothing"), "{error}");
}
