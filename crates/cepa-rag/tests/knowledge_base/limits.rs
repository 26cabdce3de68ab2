//! Files that are too large, too strange or too many.

use std::{fs::File as FsFile, time::Duration};

use cepa_rag::{RagError, SearchOptions};

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
