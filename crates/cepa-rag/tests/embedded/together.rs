//! Many at once.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use cepa_rag::{EmbeddedStore, SearchRequest, VectorStore as _};

use super::{collection, open, record};

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn searches_go_on_while_chunks_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let (store, is_over) = (Arc::new(open(&folder)), Arc::new(AtomicBool::new(false)));
    store.ensure_collection(&collection(4)).await.unwrap();
    // One that stays throughout.
    let fixed = record("fixed", 0, "always there", vec![0.0, 0.0, 0.0, 1.0]);
    store.insert(&collection(4), vec![fixed]).await.unwrap();
    let searching = (0..8).map(|number| {
        let (store, is_over) = (store.clone(), is_over.clone());
        tokio::spawn(async move {
            let mut searches = 0;
            while !is_over.load(Ordering::Relaxed) {
                let vector = [0.0, 0.0, 0.0, 1.0];
                let request = match number % 3 {
                    0 => SearchRequest::vector(&vector, 3),
                    1 => SearchRequest::text("always", 3),
                    _ => SearchRequest::hybrid(&vector, "always", 3),
                };
                let hits = store.search(&collection(4), request).await.unwrap();
                assert_eq!(hits[0].chunk.text(), Some("always there"));
                searches += 1;
            }
            searches
        })
    });
    let searching: Vec<_> = searching.collect();
    for round in 0..60 {
        let records =
            (0..20).map(|index| record("moving", index, "moves", vec![1.0, round as f32, 0.0, 0.0]));
        store.insert(&collection(4), records.collect()).await.unwrap();
        if round % 10 == 9 {
            store.delete(&collection(4), "moving", None, None).await.unwrap();
        }
    }
    is_over.store(true, Ordering::Relaxed);
    for searching in searching {
        assert!(searching.await.unwrap() > 0);
    }
    assert_eq!(store.list_documents(&collection(4), None).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_comes_second_finds_the_collection() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(open(&folder));
    let inserting = (0..16).map(|index| {
        let store = store.clone();
        tokio::spawn(async move {
            store.ensure_collection(&collection(1)).await.unwrap();
            store.insert(&collection(1), vec![record("d", index, "text", vec![1.0])]).await.unwrap();
        })
    });
    for inserted in inserting.collect::<Vec<_>>() {
        inserted.await.unwrap();
    }
    assert_eq!(store.list_chunks(&collection(1), "d", 0, 100, None).await.unwrap().len(), 16);
}

#[tokio::test]
async fn a_folder_has_one_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    let error = EmbeddedStore::open(folder.path()).unwrap_err();
    assert!(error.to_string().contains("open already") && error.is_transient(), "{error}");
    drop(store);
    open(&folder);
}
