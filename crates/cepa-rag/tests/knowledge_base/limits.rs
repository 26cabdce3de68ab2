//! Files that are too large, too strange or too many.

use std::{
    fs::File as FsFile,
    sync::{Mutex, mpsc},
    time::Duration,
};

use cepa_core::TextBlock;
use cepa_rag::{
    Chunk, Chunker, File, Parsed, Parser, Parsers, RagError, SearchOptions, Section, TokenChunker,
};

use crate::parts::{Words, base, documents, folder, found, in_memory, search, write};

#[tokio::test]
async fn a_huge_file_is_refused_by_name_without_being_read() {
    let folder = folder(&[("a.md", "Onions.")]);
    FsFile::create(folder.path().join("huge.txt")).unwrap().set_len(2 << 30).unwrap();
    let store = in_memory();
    let base = base(&store).build().unwrap();
    // Reading two gigabytes takes longer, and memory that this machine may not have.
    let report = tokio::time::timeout(Duration::from_secs(5), base.index_folder(folder.path()).into_future());
    let report = report.await.unwrap().unwrap();
    assert_eq!(report.added, 1);
    let [problem] = &report.problems[..] else { panic!("{report:?}") };
    assert!(matches!(problem.error, RagError::TooLarge { bytes: 0x8000_0000, .. }));
    assert!(problem.to_string().contains("huge.txt"), "{problem}");
}

#[tokio::test]
async fn a_file_that_cannot_be_read_keeps_no_other_out_and_loses_nothing() {
    let folder = folder(&[("a.md", "Onions."), ("b.txt", "Leeks.")]);
    let store = in_memory();
    let base = base(&store).build().unwrap();
    base.index_folder(folder.path()).await.unwrap();
    let noise: Vec<u8> = (0..100_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    write(folder.path(), "b.txt", &noise);
    write(folder.path(), "noise.bin", &noise);
    write(folder.path(), "noise.pdf", &noise);
    write(folder.path(), "c.md", "Chives.");
    let report = base.index_folder(folder.path()).await.unwrap();
    assert_eq!((report.added, report.unchanged, report.deleted), (1, 1, 0));
    for name in ["b.txt", "noise.bin", "noise.pdf"] {
        let named = report.problems.iter().filter(|problem| problem.file == name);
        assert!(named.clone().all(|problem| problem.to_string().contains(name)));
        assert_eq!(named.count(), 1, "{name}: {report:?}");
    }
    assert_eq!(found(&base, "leeks").await[0].chunk.text(), Some("Leeks."));
}

#[tokio::test]
async fn a_hundred_thousand_lines_are_found_to_the_last() {
    let lines: String = (0..100_000).map(|n| format!("Line number {n} says nothing much.\n")).collect();
    let folder = folder(&[]);
    write(folder.path(), "long.txt", format!("{lines}The zebra stands at the end.\n"));
    let (store, model) = (in_memory(), Words::default());
    let base = base(&store).embedding_model(model.clone()).build().unwrap();
    let report = base.index_folder(folder.path()).await.unwrap();
    assert_eq!((report.added, report.chunks), (1, model.texts()));
    let hits = search(&base, "zebra", &SearchOptions::top_k(1)).await.unwrap();
    assert!(hits[0].chunk.text().unwrap().contains("zebra"));
    assert_eq!(hits[0].chunk.position.lines.unwrap().1, 100_001);
    let last = hits[0].chunk.total_chunks - 1;
    let chunks = base.list_chunks("long.txt", last, 10).await.unwrap();
    assert_eq!(chunks.len(), 1);
    assert_eq!(documents(&base).await, [("long.txt".to_owned(), true)]);
}

/// Reads a file of its kind for as long as the test likes.
#[derive(Debug)]
struct Endless(Mutex<mpsc::Receiver<()>>);

impl Parser for Endless {
    fn extensions(&self) -> &[&str] {
        &["endless"]
    }

    fn parse(&self, file: &File) -> Result<Parsed, RagError> {
        let _ = self.0.lock().unwrap().recv();
        Ok(Parsed::from(vec![Section::new(file.name.as_str(), TextBlock::new("At last."))]))
    }
}

#[tokio::test]
async fn a_file_that_takes_forever_is_a_problem_of_its_own() {
    let folder = folder(&[("a.md", "Onions."), ("b.endless", "Leeks."), ("c.md", "Chives.")]);
    let store = in_memory();
    let (end, is_over) = mpsc::channel();
    let parsers = Parsers::default().with(Endless(Mutex::new(is_over)));
    let base = base(&store).parsers(parsers).timeout(Duration::from_secs(1)).build().unwrap();
    let report = base.index_folder(folder.path()).await.unwrap();
    assert_eq!(report.added, 2);
    let [problem] = &report.problems[..] else { panic!("{report:?}") };
    let told = problem.to_string();
    assert!(told.contains("b.endless") && told.contains("1s") && told.contains("`timeout`"), "{told}");
    // The thread is still there.
    drop(end);
}

#[tokio::test]
async fn who_is_too_slow_is_named() {
    let (store, folder) = (in_memory(), folder(&[("a.md", "Onions.")]));
    let slow = Words { takes: Duration::from_secs(600), ..Words::default() };
    let base = base(&store).embedding_model(slow).timeout(Duration::from_millis(500)).max_retries(0);
    let error = base.build().unwrap().index_folder(folder.path()).await.unwrap_err();
    assert_eq!(error.to_string(), "words: no answer within 500ms");
    assert!(error.is_transient());
}

/// Says of each chunk what no store keeps.
#[derive(Debug)]
struct Immeasurable(TokenChunker);

impl Chunker for Immeasurable {
    fn chunk(&self, sections: Vec<Section>) -> Vec<Chunk> {
        let mut chunks = self.0.chunk(sections);
        for chunk in chunks.iter_mut().filter(|chunk| chunk.source == "b.md") {
            chunk.metadata.insert("share".to_owned(), f64::NAN.into());
        }
        chunks
    }
}

#[tokio::test]
async fn metadata_that_no_store_keeps_lose_their_file_only() {
    let (store, folder) =
        (in_memory(), folder(&[("a.md", "Onions."), ("b.md", "Leeks."), ("c.md", "Chives.")]));
    let base = base(&store).chunker(Immeasurable(TokenChunker::default())).build().unwrap();
    let report = base.index_folder(folder.path()).await.unwrap();
    assert_eq!((report.added, report.problems.len()), (2, 1));
    let told = report.problems[0].to_string();
    assert!(told.contains("b.md") && told.contains("`share`"), "{told}");
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let store = in_memory();
    let cases = [
        (base(&store).batch_size(0).build(), "batch_size"),
        (base(&store).concurrency(0).build(), "concurrency"),
        (base(&store).timeout(Duration::ZERO).build(), "timeout"),
        (base(&store).collection("no/name").build(), "no/name"),
        (base(&store).search_by(cepa_rag::SearchBy::Vector).build(), "embedding_model"),
    ];
    for (built, words) in cases {
        let error = built.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}
