//! Collections.

use std::sync::Arc;

use cepa_rag::{Collection, MetadataKind, RagError, SearchRequest, VectorStore};

use super::collection;
use crate::data::record;

/// F13: the first search through two handles at once.
pub(super) async fn many_make_one_collection(store: &Arc<dyn VectorStore>, other: &Arc<dyn VectorStore>) {
    let plain = Collection::new("Many-at_once", 4).unwrap();
    let indexed = (plain.clone().with_index("team", MetadataKind::Text))
        .with_index("year", MetadataKind::Integer)
        .with_index("share", MetadataKind::Float)
        .with_index("is \\ it's [0] $1", MetadataKind::Bool);
    for collection in [plain, indexed] {
        let making = (0..24).map(|turn| {
            let store = if turn % 2 == 0 { store.clone() } else { other.clone() };
            let collection = collection.clone();
            tokio::spawn(async move {
                store.ensure_collection(&collection).await?;
                store.search(&collection, SearchRequest::vector(&[1.0, 0.0, 0.0, 0.0], 1)).await
            })
        });
        for made in making.collect::<Vec<_>>() {
            assert_eq!(made.await.unwrap().unwrap(), []);
        }
        // What one handle keeps, the other finds.
        let kept = record("kept", "1", 0, 1, vec![1.0, 0.0, 0.0, 0.0]);
        store.insert(&collection, vec![kept]).await.unwrap();
        let hits = other.search(&collection, SearchRequest::vector(&[1.0, 0.0, 0.0, 0.0], 1)).await.unwrap();
        assert_eq!(hits.len(), 1);
        other.delete(&collection, "kept", None, None).await.unwrap();
    }
}

pub(super) async fn other_dimensions_are_told(store: &dyn VectorStore) {
    let three = collection(store, "three", 3).await;
    let told = |error: RagError, expected, found| match error {
        RagError::Dimensions { expected: e, found: f, ref place } => {
            assert_eq!((e, f), (expected, found));
            assert!(place.contains("three"), "{error}");
        }
        error => panic!("{error:?}"),
    };
    // Empty, and with something in it.
    for _ in 0..2 {
        let four = Collection::new("three", 4).unwrap();
        told(store.ensure_collection(&four).await.unwrap_err(), 3, 4);
        let records =
            vec![record("new", "1", 0, 2, vec![0.0, 0.0, 1.0]), record("new", "1", 1, 2, vec![1.0, 0.0])];
        told(store.insert(&three, records).await.unwrap_err(), 3, 2);
        told(store.search(&three, SearchRequest::vector(&[1.0; 5], 1)).await.unwrap_err(), 3, 5);
        let documents = store.list_documents(&three, None).await.unwrap();
        assert!(documents.iter().all(|document| document.document_id == "old"), "{documents:?}");
        store.insert(&three, vec![record("old", "1", 0, 1, vec![0.0, 0.0, 1.0])]).await.unwrap();
    }
    if !store.has_keywords() {
        let words = Collection::new("words", None).unwrap();
        let error = store.ensure_collection(&words).await.unwrap_err();
        assert!(matches!(error, RagError::Unsupported { .. }), "{error:?}");
    }
}

pub(super) async fn an_empty_collection_has_nothing(store: &dyn VectorStore) {
    let empty = collection(store, "empty", 3).await;
    store.insert(&empty, Vec::new()).await.unwrap();
    store.delete(&empty, "nobody", Some("1"), None).await.unwrap();
    assert_eq!(store.search(&empty, SearchRequest::vector(&[1.0, 0.0, 0.0], 5)).await.unwrap(), []);
    assert_eq!(store.list_documents(&empty, None).await.unwrap(), []);
    assert_eq!(store.list_chunks(&empty, "nobody", 0, 10, None).await.unwrap(), []);
}
