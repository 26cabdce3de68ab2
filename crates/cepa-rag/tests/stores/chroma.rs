//! Chroma, from its Python package.

use std::{
    process::{Command, Stdio},
    sync::Arc,
};

use cepa_rag::{ChromaStore, Collection, RagError, VectorStore};

use crate::{
    process::{Server, interpreter},
    suite,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chroma_keeps_and_finds_as_every_store() {
    let Some(python) = interpreter("CEPA_CHROMA") else { return };
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|port| {
        let mut chroma = Command::new(python.with_file_name("chroma"));
        chroma.args(["run", "--host", "127.0.0.1", "--port", &port.to_string(), "--path"]).arg(folder.path());
        chroma.env("ANONYMIZED_TELEMETRY", "False").stdout(Stdio::null()).stderr(Stdio::null());
        chroma
    });
    let url = format!("http://127.0.0.1:{}", server.port);
    let store = || ChromaStore::builder(&url).build().unwrap();
    suite::run(Arc::new(store()), Arc::new(store())).await;

    // A database that is not there, and a collection that was never made.
    let elsewhere = ChromaStore::builder(&url).database("elsewhere").build().unwrap();
    let collection = Collection::new("nothing", 3).unwrap();
    let error = elsewhere.ensure_collection(&collection).await.unwrap_err();
    assert!(matches!(error, RagError::Service { is_transient: false, .. }), "{error:?}");
    let error = store().list_documents(&collection, None).await.unwrap_err();
    assert!(error.to_string().contains("nothing"), "{error}");
}
