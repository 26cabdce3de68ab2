//! The store inside the program, in memory and in a folder.

use std::sync::Arc;

use cepa_rag::{EmbeddedStore, VectorStore};

use crate::suite;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_memory_it_keeps_and_finds_as_every_store() {
    let store: Arc<dyn VectorStore> = Arc::new(EmbeddedStore::in_memory());
    suite::run(store.clone(), store).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_folder_it_keeps_and_finds_as_every_store() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn VectorStore> =
        Arc::new(EmbeddedStore::open(folder.path()).unwrap().with_quantised_pass(true));
    suite::run(store.clone(), store).await;
}
