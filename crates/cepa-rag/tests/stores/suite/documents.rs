//! Documents, their versions and chunks.

use cepa_rag::{DocumentSummary, Filter, RagError, SearchRequest, VectorStore};

use super::{filled, searching::with_chance};
use crate::data::{filter, record, some, text, with_metadata};

pub(super) async fn records_are_replaced(store: &dyn VectorStore) {
    let years = |year: i64| [("year".to_owned(), year.into()), ("old".to_owned(), true.into())].into();
    let old = with_metadata(record("doc", "1", 0, 1, vec![1.0, 0.0]), years(2020));
    let collection = filled(store, "replaced", std::slice::from_ref(&old)).await;
    // Twice in one call: the last is kept.
    let mut new = with_metadata(old.clone(), [("year".to_owned(), 2021.into())].into());
    new.chunk.content = text("new words");
    new.vector = Some(vec![0.0, 1.0]);
    store.insert(&collection, vec![old, new.clone()]).await.unwrap();
    let hits = store.search(&collection, SearchRequest::vector(&[0.0, 1.0], 5)).await.unwrap();
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].chunk, new.chunk);
    assert!((hits[0].score - 1.0).abs() < 1e-4);
    // Nothing is left of what it was.
    for (filter, count) in [
        (Filter::exists("old"), 0),
        (!Filter::exists("old"), 1),
        (Filter::eq("year", 2020), 0),
        (Filter::eq("year", 2021), 1),
    ] {
        let found = store.list_documents(&collection, Some(&filter)).await.unwrap();
        assert_eq!(found.len(), count, "{filter:?}");
    }
    assert_eq!(store.list_documents(&collection, None).await.unwrap()[0].metadata, new.chunk.metadata);
}

pub(super) async fn old_versions_are_deleted(store: &dyn VectorStore) {
    let records: Vec<_> =
        [("doc", "1", 0), ("doc", "1", 1), ("doc", "2", 0), ("doc", "3", 0), ("other", "1", 0)]
            .map(|(document, version, index)| record(document, version, index, 2, vec![1.0, 0.0]))
            .into();
    let collection = filled(store, "versions", &records).await;
    let versions = async || {
        let documents = store.list_documents(&collection, None).await.unwrap();
        let mut versions: Vec<_> = documents
            .into_iter()
            .map(|document| format!("{}@{}", document.document_id, document.version))
            .collect();
        versions.sort();
        versions.join(" ")
    };
    assert_eq!(versions().await, "doc@1 doc@2 doc@3 other@1");
    store.delete(&collection, "doc", Some("2"), None).await.unwrap();
    assert_eq!(versions().await, "doc@2 other@1");
    store.delete(&collection, "doc", Some("9"), None).await.unwrap();
    assert_eq!(versions().await, "other@1");
    store.delete(&collection, "other", None, None).await.unwrap();
    assert_eq!(versions().await, "");
}

pub(super) async fn deletions_are_filtered(store: &dyn VectorStore) {
    let records = with_chance("gone");
    let collection = filled(store, "gone", &records).await;
    let mut left = records;
    let mut deleted = 0;
    for (at, filter) in some(60, filter()).iter().enumerate() {
        let document = format!("gone-{}", at % 30);
        match store.delete(&collection, &document, None, Some(filter)).await {
            Ok(()) => {}
            Err(RagError::Unsupported { .. }) => continue,
            Err(error) => panic!("{error:?}"),
        }
        let before = left.len();
        left.retain(|record| record.document_id != document || !filter.matches(&record.chunk.metadata));
        deleted += before - left.len();
        let chunks = store.list_chunks(&collection, &document, 0, 10, None).await.unwrap();
        let expected = left.iter().filter(|record| record.document_id == document);
        assert_eq!(chunks, expected.map(|record| record.chunk.clone()).collect::<Vec<_>>(), "{filter:?}");
    }
    let documents = store.list_documents(&collection, None).await.unwrap();
    assert_eq!(documents.iter().map(|document| document.chunk_count as usize).sum::<usize>(), left.len());
    assert!(deleted > 10 && left.len() > 10, "{deleted} deleted, {} left", left.len());
}

pub(super) async fn documents_are_listed_by_version(store: &dyn VectorStore) {
    let of = |kind: &str, at: u32| {
        [("kind".to_owned(), kind.into()), ("at".to_owned(), at.into()), ("size".to_owned(), 1e10.into())]
            .into()
    };
    let mut records = Vec::new();
    for index in (0..3).rev() {
        records.push(with_metadata(record("doc", "old", index, 3, vec![1.0, 0.0]), of("old", index)));
    }
    // A crash has left the new version in parts.
    for index in [2, 1] {
        records.push(with_metadata(record("doc", "new", index, 4, vec![1.0, 0.0]), of("new", index)));
    }
    records.push(record("other", "old", 0, 1, vec![1.0, 0.0]));
    let collection = filled(store, "listed", &records).await;
    let listed = async |filter: Option<&Filter>| {
        let mut documents = store.list_documents(&collection, filter).await.unwrap();
        documents.sort_by_key(|document| (document.document_id.clone(), document.version.clone()));
        documents
    };
    let part = DocumentSummary::new("doc", "doc.md", "new", 2, 4).with_metadata(of("new", 1));
    let whole = DocumentSummary::new("doc", "doc.md", "old", 3, 3).with_metadata(of("old", 0));
    let other = DocumentSummary::new("other", "other.md", "old", 1, 1);
    assert_eq!(listed(None).await, [part, whole.clone(), other]);
    let filter = Filter::eq("kind", "old");
    assert_eq!(listed(Some(&filter)).await, [whole]);
    assert_eq!(listed(Some(&Filter::Or(Vec::new()))).await, []);
}

pub(super) async fn chunks_are_listed_by_page(store: &dyn VectorStore) {
    let records: Vec<_> = (0..250_u32)
        .rev()
        .map(|index| {
            let metadata = [("even".to_owned(), (index % 2 == 0).into())].into();
            with_metadata(record("long", "1", index, 250, vec![1.0, 0.5]), metadata)
        })
        .collect();
    let collection = filled(store, "pages", &records).await;
    store.insert(&collection, vec![record("short", "1", 0, 1, vec![1.0, 0.5])]).await.unwrap();
    let page = async |offset, limit, filter: Option<&Filter>| {
        let chunks = store.list_chunks(&collection, "long", offset, limit, filter).await.unwrap();
        chunks.into_iter().map(|chunk| chunk.chunk_index).collect::<Vec<_>>()
    };
    assert_eq!(page(0, 3, None).await, [0, 1, 2]);
    assert_eq!(page(9, 3, None).await, [9, 10, 11]);
    assert_eq!(page(248, 30, None).await, [248, 249]);
    assert_eq!(page(250, 30, None).await, [0; 0]);
    assert_eq!(page(0, 0, None).await, [0; 0]);
    assert_eq!(page(5, 230, None).await, (5..235).collect::<Vec<_>>());
    // So many of those that pass are left out.
    let even = Filter::eq("even", true);
    assert_eq!(page(2, 3, Some(&even)).await, [4, 6, 8]);
}
