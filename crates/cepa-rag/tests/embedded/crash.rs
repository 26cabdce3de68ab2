//! A crash loses nothing that was acknowledged.

use std::{
    ffi::OsString,
    fs,
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use cepa_rag::{EmbeddedStore, RagError, VectorStore as _};

use super::{collection, open, record};

/// Tells the test's own program that it is to insert, and where.
const FOLDER: &str = "CEPA_EMBEDDED_FOLDER";

async fn count(store: &EmbeddedStore) -> Result<usize, RagError> {
    Ok(store.list_chunks(&collection(2), "d", 0, u32::MAX, None).await?.len())
}

async fn fill(folder: &tempfile::TempDir, chunks: u32) {
    let store = open(folder);
    store.ensure_collection(&collection(2)).await.unwrap();
    for index in 0..chunks {
        store.insert(&collection(2), vec![record("d", index, "text", vec![1.0, 2.0])]).await.unwrap();
    }
}

#[tokio::test]
async fn a_log_that_ends_anywhere_in_its_last_record_has_all_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("things/log");
    fill(&folder, 3).await;
    let before = fs::read(&log).unwrap().len();
    let store = open(&folder);
    let last = vec![record("d", 3, "the last", vec![1.0, 2.0]), record("d", 4, "of all", vec![1.0, 2.0])];
    store.insert(&collection(2), last).await.unwrap();
    drop(store);
    let whole = fs::read(&log).unwrap();
    for end in before..=whole.len() {
        fs::write(&log, &whole[..end]).unwrap();
        let store = open(&folder);
        let expected = if end == whole.len() { 5 } else { 3 };
        assert_eq!(count(&store).await.unwrap(), expected, "cut at {end} of {}", whole.len());
        // And what is written next is there, too.
        store.insert(&collection(2), vec![record("d", 9, "next", vec![1.0, 2.0])]).await.unwrap();
        drop(store);
        assert_eq!(count(&open(&folder)).await.unwrap(), expected + 1);
    }
}

#[tokio::test]
async fn a_last_record_of_which_some_pages_never_came_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("things/log");
    fill(&folder, 1).await;
    let before = fs::read(&log).unwrap().len();
    let store = open(&folder);
    store.insert(&collection(2), vec![record("d", 1, &"long ".repeat(2_000), vec![1.0, 2.0])]).await.unwrap();
    drop(store);
    let whole = fs::read(&log).unwrap();
    for page in (before..whole.len()).step_by(4096) {
        let mut torn = whole.clone();
        let end = (page + 4096).min(torn.len());
        torn[page..end].fill(0);
        fs::write(&log, torn).unwrap();
        assert_eq!(count(&open(&folder)).await.unwrap(), 1, "page at {page}");
    }
}

#[tokio::test]
async fn damage_in_the_middle_throws_nothing_away() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("things/log");
    fill(&folder, 3).await;
    let whole = fs::read(&log).unwrap();
    // One byte of the second of three records.
    let mut damaged = whole.clone();
    let at = whole.len() / 2;
    damaged[at] ^= 1;
    fs::write(&log, &damaged).unwrap();
    let error = count(&open(&folder)).await.unwrap_err().to_string();
    assert!(error.contains("damaged at byte"), "{error}");
    assert_eq!(fs::read(&log).unwrap(), damaged);
}

#[tokio::test]
async fn a_log_that_was_being_made_anew_is_left_aside() {
    let folder = tempfile::tempdir().unwrap();
    fill(&folder, 2).await;
    fs::write(folder.path().join("things/log.new"), b"half of it").unwrap();
    assert_eq!(count(&open(&folder)).await.unwrap(), 2);
    assert!(!folder.path().join("things/log.new").exists());
}

#[tokio::test]
async fn what_is_deleted_gives_its_room_back() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("things/log");
    fill(&folder, 10).await;
    let before = fs::metadata(&log).unwrap().len();
    let store = open(&folder);
    for _ in 0..100 {
        let records = (0..10).map(|index| record("d", index, "text", vec![1.0, 2.0])).collect();
        store.insert(&collection(2), records).await.unwrap();
    }
    let after = fs::metadata(&log).unwrap().len();
    assert!(after < before * 10, "{after} bytes, and {before} would do");
    assert_eq!(count(&store).await.unwrap(), 10);
    drop(store);
    assert_eq!(count(&open(&folder)).await.unwrap(), 10);
}

#[tokio::test]
async fn a_killed_process_has_kept_what_it_acknowledged() {
    // Here it is the process that is killed.
    if let Some(folder) = std::env::var_os(FOLDER) {
        return insert_until_killed(folder).await;
    }
    for round in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crash::a_killed_process_has_kept_what_it_acknowledged", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let numbers = lines.map(|line| line.unwrap()).filter_map(|line| line.parse::<u32>().ok());
        let mut acknowledged = 0;
        for number in numbers {
            acknowledged = number;
            if number == 150 + round * 37 {
                // While it is open, nobody else may write.
                let error = EmbeddedStore::open(folder.path()).unwrap_err().to_string();
                assert!(error.contains(&folder.path().display().to_string()), "{error}");
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        let store = open(&folder);
        let chunks = store.list_chunks(&collection(2), "d", 0, u32::MAX, None).await.unwrap();
        let indexes: Vec<u32> = chunks.iter().map(|chunk| chunk.chunk_index).collect();
        let there = indexes.len() as u32;
        assert!(acknowledged >= 150 && there > acknowledged, "{acknowledged} acknowledged, {there} there");
        assert_eq!(indexes, (0..there).collect::<Vec<_>>());
    }
}

async fn insert_until_killed(folder: OsString) {
    let store = EmbeddedStore::open(folder).unwrap();
    store.ensure_collection(&collection(2)).await.unwrap();
    for index in 0.. {
        // One chunk is written again and again, so that the log is made anew now and then.
        let records =
            vec![record("e", 0, "again", vec![2.0, 1.0]), record("d", index, "text", vec![1.0, 2.0])];
        store.insert(&collection(2), records).await.unwrap();
        eprintln!("{index}");
    }
}
