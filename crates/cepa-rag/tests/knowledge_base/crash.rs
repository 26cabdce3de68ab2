//! Runs that end in the middle.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use cepa_rag::{CachedEmbedding, EmbeddedStore, KnowledgeBase, Progress, TokenChunker};

use crate::parts::{Dying, Words, base, chunks, documents, folder, in_memory, write};

/// So many documents of so many chunks.
fn many() -> tempfile::TempDir {
    let folder = folder(&[]);
    for document in 0..6 {
        let lines =
            (0..60).map(|n| format!("Onion {n} of document {document} is a bulb among the bulbs.\n\n"));
        write(folder.path(), &format!("{document}.txt"), lines.collect::<String>());
    }
    folder
}

fn small(store: &Arc<EmbeddedStore>, model: Words, cache: &Path) -> KnowledgeBase {
    let model = CachedEmbedding::new(model, cache).unwrap();
    let chunker = TokenChunker::builder().max_tokens(40).overlap(0).build().unwrap();
    base(store).embedding_model(model).chunker(chunker).batch_size(4).concurrency(2).build().unwrap()
}

#[tokio::test]
async fn a_store_that_dies_is_mended_by_the_next_run() {
    let (folder, whole) = (many(), in_memory());
    let caches = tempfile::tempdir().unwrap();
    let undisturbed = small(&whole, Words::default(), &caches.path().join("whole"));
    let total = undisturbed.index_folder(folder.path()).await.unwrap().chunks;
    for inserts in [0, 1, 7, 20] {
        let cache = caches.path().join(inserts.to_string());
        let (store, model) = (in_memory(), Words::default());
        let dying = Dying { store: store.clone(), inserts: AtomicUsize::new(inserts) };
        let broken = KnowledgeBase::builder("docs", "What is known.", dying)
            .embedding_model(CachedEmbedding::new(model.clone(), &cache).unwrap())
            .chunker(TokenChunker::builder().max_tokens(40).overlap(0).build().unwrap())
            .batch_size(4)
            .concurrency(2)
            .build()
            .unwrap();
        let error = broken.index_folder(folder.path()).await.unwrap_err();
        assert!(error.to_string().contains("the disk is full"), "{error}");

        let mended = small(&store, model.clone(), &cache);
        mended.index_folder(folder.path()).await.unwrap();
        assert_eq!(documents(&mended).await, documents(&undisturbed).await);
        for document in 0..6 {
            let id = format!("{document}.txt");
            assert_eq!(chunks(&mended, &id).await, chunks(&undisturbed, &id).await);
        }
        // Not one text was embedded twice.
        assert_eq!(model.texts(), total);
        let report = mended.index_folder(folder.path()).await.unwrap();
        assert_eq!(report.unchanged, 6);
    }
}

const STORE: &str = "CEPA_TEST_STORE";
const DOCS: &str = "CEPA_TEST_DOCS";

/// Not a test: what the one below starts and kills.
#[tokio::test]
async fn a_process_that_is_killed() {
    let (Some(place), Some(docs)) = (std::env::var_os(STORE), std::env::var_os(DOCS)) else { return };
    let place = Path::new(&place);
    let store = Arc::new(EmbeddedStore::open(place.join("store")).unwrap());
    let slow = Words { takes: Duration::from_millis(30), ..Words::default() };
    let tell = |progress: &Progress| eprintln!("kept {}", progress.chunks_done);
    small(&store, slow, &place.join("cache")).index_folder(&docs).on_progress(tell).await.unwrap();
}

#[tokio::test]
async fn a_process_that_is_killed_loses_nothing() {
    let (folder, place) = (many(), tempfile::tempdir().unwrap());
    for kept in ["kept 12", "kept 40"] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crash::a_process_that_is_killed", "--nocapture"])
            .env(STORE, place.path())
            .env(DOCS, folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains(kept)));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let store = Arc::new(EmbeddedStore::open(place.path().join("store")).unwrap());
    let mended = small(&store, Words::default(), &place.path().join("cache"));
    let before = documents(&mended).await;
    assert!(!before.is_empty() && before.iter().filter(|(_, is_whole)| *is_whole).count() < 6, "{before:?}");
    mended.index_folder(folder.path()).await.unwrap();

    let (whole, cache) = (in_memory(), tempfile::tempdir().unwrap());
    let undisturbed = small(&whole, Words::default(), cache.path());
    undisturbed.index_folder(folder.path()).await.unwrap();
    assert_eq!(documents(&mended).await, documents(&undisturbed).await);
    for document in 0..6 {
        let id = format!("{document}.txt");
        assert_eq!(chunks(&mended, &id).await, chunks(&undisturbed, &id).await);
    }
}

/// Not a test: what the one below starts with little room.
#[cfg(unix)]
#[tokio::test]
async fn a_process_without_room() {
    let (Some(place), Some(docs)) = (std::env::var_os(STORE), std::env::var_os(DOCS)) else { return };
    let place = Path::new(&place);
    let store = Arc::new(EmbeddedStore::open(place.join("store")).unwrap());
    let base = small(&store, Words::default(), &place.join("cache"));
    match base.index_folder(&docs).await {
        Ok(report) => eprintln!("done: {report}"),
        Err(error) => eprintln!("ended: {error}"),
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_disk_that_is_full_ends_the_run_and_loses_nothing() {
    let (folder, place) = (many(), tempfile::tempdir().unwrap());
    // No file may have more than 64 KiB (in blocks of 512 bytes), and who writes more is told so instead of killed.
    let told = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 128; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "crash::a_process_without_room", "--nocapture"])
        .env(STORE, place.path())
        .env(DOCS, folder.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&told.stderr);
    assert!(told.contains("ended: ") && told.contains("log"), "{told}");

    let store = Arc::new(EmbeddedStore::open(place.path().join("store")).unwrap());
    let base = small(&store, Words::default(), &place.path().join("cache"));
    let before = documents(&base).await;
    assert!(!before.is_empty() && before.iter().any(|(_, is_whole)| !is_whole), "{before:?}");
    let report = base.index_folder(folder.path()).await.unwrap();
    assert!(report.problems.is_empty(), "{report:?}");
    let after = documents(&base).await;
    assert!(after.len() == 6 && after.iter().all(|(_, is_whole)| *is_whole), "{after:?}");
}
