//! Callers that do not wait for an answer: their deadline has passed, or their own caller is gone.

use std::{fs::OpenOptions, io::Write as _, time::Duration};

use cepa_rag::{SearchRequest, VectorRecord, VectorStore as _};
use tokio::time::timeout;

use super::{collection, open, record};

/// Asks, and does not wait.
async fn give_up(asked: impl Future, after: Duration) -> bool {
    timeout(after, asked).await.is_err()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_stops_waiting_for_a_new_collection_harms_nobody() {
    for round in 0..40 {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder);
        let things = collection(2);
        give_up(store.ensure_collection(&things), Duration::from_micros(round * 25)).await;
        give_up(store.ensure_collection(&things), Duration::from_micros(round * 10)).await;
        store.ensure_collection(&things).await.unwrap();
        store.insert(&things, vec![record("d", 0, "kept", vec![1.0, 2.0])]).await.unwrap();
        // Whatever still runs has the folder open, too.
        drop(store);
        let store = loop {
            match cepa_rag::EmbeddedStore::open(folder.path()) {
                Ok(store) => break store,
                Err(error) => assert!(error.is_transient(), "{error}"),
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        };
        let kept = store.list_chunks(&things, "d", 0, 10, None).await.unwrap();
        assert_eq!(kept.len(), 1, "round {round}");
    }
}

/// So many chunks that opening them takes some time.
async fn fill(folder: &tempfile::TempDir) {
    let store = open(folder);
    store.ensure_collection(&collection(2)).await.unwrap();
    let words = "words that are counted once more when it is opened ".repeat(8);
    let records = |from: u32| (from..from + 500).map(|index| record("d", index, &words, vec![1.0, 2.0]));
    for from in (0..2_000).step_by(500) {
        let records: Vec<VectorRecord> = records(from).collect();
        store.insert(&collection(2), records).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_stops_waiting_for_a_large_collection_harms_nobody() {
    let folder = tempfile::tempdir().unwrap();
    fill(&folder).await;
    // A crash has left half a batch, which opening cuts off.
    let log = folder.path().join("things/log");
    OpenOptions::new().append(true).open(&log).unwrap().write_all(&[0xCE; 300_000]).unwrap();
    let (store, things) = (open(&folder), collection(2));
    let mut is_given_up = false;
    for pause in [1, 7, 20] {
        let search = store.search(&things, SearchRequest::text("words", 1));
        is_given_up |= give_up(search, Duration::from_millis(pause)).await;
    }
    assert!(is_given_up, "it took no time to open");
    store.insert(&things, vec![record("e", 0, "kept", vec![1.0, 2.0])]).await.unwrap();
    // Time for whatever was still running.
    tokio::time::sleep(Duration::from_millis(500)).await;
    drop(store);
    let store = open(&folder);
    assert_eq!(store.list_chunks(&things, "e", 0, 10, None).await.unwrap().len(), 1);
    assert_eq!(store.list_chunks(&things, "d", 0, u32::MAX, None).await.unwrap().len(), 2_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collection_is_opened_though_nobody_waits_so_long() {
    let folder = tempfile::tempdir().unwrap();
    fill(&folder).await;
    let (store, things) = (open(&folder), collection(2));
    let mut given_up = 0;
    // It takes much longer to open than anybody waits.
    while give_up(store.list_chunks(&things, "nothing", 0, 1, None), Duration::from_millis(15)).await {
        given_up += 1;
        assert!(given_up < 400, "it is never open");
    }
    assert!(given_up > 0, "it took no time to open");
}
