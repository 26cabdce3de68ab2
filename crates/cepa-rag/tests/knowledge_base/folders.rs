//! Which files are indexed, and which documents go with them.

use std::fs;

use cepa_core::TextBlock;
use cepa_rag::{Chunk, RagError};

use crate::parts::{base, documents, folder, found, in_memory, write};

#[tokio::test]
async fn each_folder_has_its_own_documents() {
    let (guide, notes) = (folder(&[("a.md", "Onions.")]), folder(&[("a.md", "Leeks."), ("b.md", "Chives.")]));
    let store = in_memory();
    let base = base(&store).build().unwrap();
    base.insert_document(vec![Chunk::new("said", TextBlock::new("By hand."))], "own".to_owned())
        .await
        .unwrap();
    base.index_folder(guide.path()).prefix("guide").await.unwrap();
    base.index_folder(notes.path()).prefix("/notes/").await.unwrap();
    let names =
        |documents: Vec<(String, bool)>| documents.into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(documents(&base).await), ["guide/a.md", "notes/a.md", "notes/b.md", "own"]);
    fs::remove_file(notes.path().join("a.md")).unwrap();
    let report = base.index_folder(notes.path()).prefix("notes").await.unwrap();
    assert_eq!(report.deleted, 1);
    assert_eq!(names(documents(&base).await), ["guide/a.md", "notes/b.md", "own"]);
}

#[cfg(unix)]
#[tokio::test]
async fn links_and_hidden_files_are_left_out() {
    let outside = folder(&[("secret.txt", "The secret onion.")]);
    let folder = folder(&[("a.txt", "Onions."), (".git/config", "Hidden onion."), (".env", "Onion key.")]);
    std::os::unix::fs::symlink(outside.path(), folder.path().join("dir")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret.txt"), folder.path().join("link.txt")).unwrap();
    let store = in_memory();
    let base = base(&store).build().unwrap();
    let report = base.index_folder(folder.path()).await.unwrap();
    assert_eq!((report.added, report.problems.len()), (1, 0));
    assert!(found(&base, "secret onion").await.iter().all(|hit| hit.chunk.source == "a.txt"));
}

#[tokio::test]
async fn a_folder_that_is_not_there_deletes_nothing() {
    let (store, there) = (in_memory(), folder(&[("a.md", "Onions.")]));
    let base = base(&store).build().unwrap();
    base.index_folder(there.path()).await.unwrap();
    for wrong in [there.path().join("gone"), there.path().join("a.md")] {
        let error = base.index_folder(&wrong).await.unwrap_err();
        assert!(matches!(error, RagError::Io { .. }), "{error}");
        assert!(error.to_string().contains(there.path().file_name().unwrap().to_str().unwrap()), "{error}");
    }
    assert_eq!(documents(&base).await.len(), 1);
}

#[tokio::test]
async fn a_folder_that_is_empty_deletes_nothing_unless_it_may() {
    let (store, there) = (in_memory(), folder(&[("a.md", "Onions."), ("b.md", "Leeks.")]));
    let base = base(&store).build().unwrap();
    base.index_folder(there.path()).await.unwrap();
    // As a disk that is not mounted.
    let empty = tempfile::tempdir().unwrap();
    let error = base.index_folder(empty.path()).await.unwrap_err().to_string();
    assert!(error.contains("2 documents") && error.contains("may_be_empty"), "{error}");
    assert_eq!(documents(&base).await.len(), 2);
    // Nothing is from here, so nothing would be lost.
    assert_eq!(base.index_folder(empty.path()).prefix("other").await.unwrap().deleted, 0);
    let report = base.index_folder(empty.path()).may_be_empty(true).await.unwrap();
    assert_eq!(report.deleted, 2);
    assert!(documents(&base).await.is_empty());
}

#[tokio::test]
async fn hits_say_where_they_are_from() {
    let folder = folder(&[]);
    write(
        folder.path(),
        "guide/pumps.md",
        "# Pumps\n\nThey hum.\n\n## Warranty\n\nIt ends after two years.\n",
    );
    let store = in_memory();
    let base = base(&store).build().unwrap();
    base.index_folder(folder.path()).await.unwrap();
    let hits = found(&base, "When does the warranty end?").await;
    let position = &hits[0].chunk.position;
    assert_eq!(
        (hits[0].document_id.as_str(), hits[0].chunk.source.as_str()),
        ("guide/pumps.md", "guide/pumps.md")
    );
    assert!(position.lines.is_some_and(|(first, last)| first <= last && last <= 7), "{position}");
}
