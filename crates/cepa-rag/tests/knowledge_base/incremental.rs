//! What is done again, and what is not.

use std::{fs, sync::Mutex};

use cepa_rag::{File, Progress, TokenChunker};

use crate::parts::{Words, base, documents, folder, found, in_memory, write};

#[tokio::test]
async fn only_what_has_changed_is_embedded() {
    let folder =
        folder(&[("a.md", "Onions are bulbs."), ("b/c.txt", "Leeks are not."), ("d.txt", "Pumps hum.")]);
    let (store, model) = (in_memory(), Words::default());
    let base = base(&store).embedding_model(model.clone()).build().unwrap();

    let report = base.index_folder(folder.path()).await.unwrap();
    assert_eq!((report.added, report.unchanged, report.chunks, model.texts()), (3, 0, 3, 3));
    assert_eq!(report.tokens, 3);

    let report = base.index_folder(folder.path()).await.unwrap();
    assert_eq!((report.added, report.unchanged, model.texts()), (0, 3, 3));

    write(folder.path(), "a.md", "Garlic is a bulb too.");
    fs::remove_file(folder.path().join("d.txt")).unwrap();
    write(folder.path(), "e.txt", "New.");
    let report = base.index_folder(folder.path()).await.unwrap();
    assert_eq!((report.added, report.replaced, report.unchanged, report.deleted), (1, 1, 1, 1));
    assert_eq!(model.texts(), 5);
    assert_eq!(
        documents(&base).await,
        [("a.md", true), ("b/c.txt", true), ("e.txt", true)].map(|(id, whole)| (id.to_owned(), whole))
    );
    let hits = found(&base, "garlic bulb").await;
    assert_eq!(hits[0].chunk.text(), Some("Garlic is a bulb too."));
    assert!(hits.iter().all(|hit| hit.chunk.text() != Some("Onions are bulbs.")));
    assert_eq!(report.to_string(), "1 added, 1 replaced, 1 unchanged, 1 deleted");
}

#[tokio::test]
async fn another_way_of_cutting_makes_all_be_done_again() {
    let folder = folder(&[("a.md", "Onions are bulbs."), ("b.md", "Leeks are not.")]);
    let (store, model) = (in_memory(), Words::default());
    let first = base(&store).embedding_model(model.clone()).build().unwrap();
    first.index_folder(folder.path()).await.unwrap();
    let chunker = TokenChunker::builder().max_tokens(37).overlap(3).build().unwrap();
    let second = base(&store).embedding_model(model.clone()).chunker(chunker).build().unwrap();
    let report = second.index_folder(folder.path()).await.unwrap();
    assert_eq!((report.replaced, report.unchanged), (2, 0));
    assert_eq!(documents(&second).await.len(), 2);
}

#[tokio::test]
async fn progress_ends_with_everything_done() {
    let folder = folder(&[("a.md", "Onions."), ("b.md", "Leeks."), ("c.md", "")]);
    let store = in_memory();
    let base = base(&store).build().unwrap();
    let seen: Mutex<Vec<Progress>> = Mutex::default();
    let note = |progress: &Progress| seen.lock().unwrap().push(progress.clone());
    base.index_folder(folder.path()).on_progress(note).await.unwrap();
    let seen = seen.into_inner().unwrap();
    let (first, last) = (&seen[0], seen.last().unwrap());
    assert_eq!((first.documents, first.documents_done), (3, 0));
    assert_eq!((last.documents, last.documents_done, last.chunks_done), (3, 3, 2));
    assert!(seen.is_sorted_by_key(|progress| (progress.documents_done, progress.chunks_done)));
}

#[tokio::test]
async fn progress_counts_files_of_one_name_too() {
    let store = in_memory();
    let base = base(&store).build().unwrap();
    let last: Mutex<Progress> = Mutex::default();
    let note = |progress: &Progress| *last.lock().unwrap() = progress.clone();
    let files = ["Onions.", "Leeks.", "Chives."].map(|text| File::new("a.txt", text));
    let report = base.index(files).on_progress(note).await.unwrap();
    assert_eq!((report.added, report.problems.len()), (1, 2));
    let last = last.into_inner().unwrap();
    assert_eq!((last.documents, last.documents_done), (3, 3));
}

#[tokio::test]
async fn a_prefix_for_files_of_a_program_is_refused() {
    let store = in_memory();
    let base = base(&store).build().unwrap();
    let error = base.index([File::new("a.txt", "Onions.")]).prefix("guide").await.unwrap_err().to_string();
    assert!(error.contains("guide"), "{error}");
    assert!(documents(&base).await.is_empty());
}

#[tokio::test]
async fn files_of_a_program_are_added_and_nothing_is_deleted() {
    let store = in_memory();
    let base = base(&store).build().unwrap();
    base.index([File::new("a.txt", "Onions."), File::new("b.txt", "Leeks.")]).await.unwrap();
    let twice = [File::new("b.txt", "Leeks!"), File::new("b.txt", "Leeks?")];
    let report = base.index(twice).await.unwrap();
    assert_eq!((report.replaced, report.deleted, report.problems.len()), (1, 0, 1));
    assert!(report.problems[0].to_string().contains("b.txt"), "{}", report.problems[0]);
    assert_eq!(documents(&base).await.len(), 2);
}

#[tokio::test]
async fn nothing_is_no_error() {
    let (store, empty) = (in_memory(), folder(&[]));
    let base = base(&store).embedding_model(Words::default()).build().unwrap();
    let report = base.index_folder(empty.path()).await.unwrap();
    assert_eq!((report.added, report.deleted, report.problems.len()), (0, 0, 0));
    assert!(found(&base, "onions").await.is_empty());
    assert!(documents(&base).await.is_empty());
}

#[tokio::test]
async fn two_runs_at_once_keep_each_document_once() {
    let files: Vec<(String, String)> =
        (0..40).map(|n| (format!("{n}.md"), format!("Number {n} of the onions."))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let (folder, store) = (folder(&files), in_memory());
    // Not the same knowledge base twice: two programs know nothing of each other.
    let bases = [(); 2].map(|()| base(&store).embedding_model(Words::default()).build().unwrap());
    let (one, other) = tokio::join!(async { bases[0].index_folder(folder.path()).await }, async {
        bases[1].index_folder(folder.path()).await
    });
    one.unwrap();
    other.unwrap();
    let documents = documents(&bases[0]).await;
    assert_eq!(documents.len(), 40);
    assert!(documents.iter().all(|(_, is_whole)| *is_whole));
}
