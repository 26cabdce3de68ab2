//! What cannot be kept or found is refused, and nothing of it is kept.

use cepa_rag::{Collection, EmbeddedStore, RagError, SearchRequest, VectorStore as _};

use super::{collection, open, record};

#[tokio::test]
async fn vectors_without_direction() {
    let store = EmbeddedStore::in_memory();
    store.ensure_collection(&collection(2)).await.unwrap();
    for (bad, why) in
        [(vec![0.0, f32::NAN], "no finite number"), (vec![f32::INFINITY, 1.0], "no finite number")]
    {
        let records = vec![record("d", 0, "good", vec![1.0, 1.0]), record("d", 1, "bad", bad.clone())];
        let error = store.insert(&collection(2), records).await.unwrap_err().to_string();
        assert!(error.contains("chunk 1 of `d.txt`") && error.contains(why), "{error}");
        let error =
            store.search(&collection(2), SearchRequest::vector(&bad, 1)).await.unwrap_err().to_string();
        assert!(error.contains("the query") && error.contains(why), "{error}");
    }
    assert_eq!(store.list_documents(&collection(2), None).await.unwrap(), []);
}

#[tokio::test]
async fn metadata_that_are_no_numbers() {
    let store = EmbeddedStore::in_memory();
    store.ensure_collection(&collection(1)).await.unwrap();
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut records = vec![record("d", 0, "good", vec![1.0]), record("d", 1, "bad", vec![1.0])];
        records[1].chunk.metadata.insert("share".into(), bad.into());
        let error = store.insert(&collection(1), records).await.unwrap_err();
        assert!(matches!(error, RagError::Unsupported { .. }), "{error:?}");
        assert!(error.to_string().contains("`share` of chunk 1 of `d.txt`"), "{error}");
    }
    assert_eq!(store.list_documents(&collection(1), None).await.unwrap(), []);
}

#[tokio::test]
async fn the_least_and_the_greatest_numbers_have_a_direction() {
    let store = EmbeddedStore::in_memory();
    store.ensure_collection(&collection(2)).await.unwrap();
    let records =
        vec![record("d", 0, "great", vec![f32::MAX, f32::MAX]), record("d", 1, "small", vec![1e-45, 0.0])];
    store.insert(&collection(2), records).await.unwrap();
    let hits = store.search(&collection(2), SearchRequest::vector(&[1e-40, 1e-40], 2)).await.unwrap();
    assert_eq!(super::texts(&hits), ["great", "small"]);
    assert!((hits[0].score - 1.0).abs() < 1e-6 && (hits[1].score - 0.5_f32.sqrt()).abs() < 1e-3, "{hits:?}");
}

#[tokio::test]
async fn vectors_of_other_dimensions() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder);
    store.ensure_collection(&collection(2)).await.unwrap();
    let records = vec![record("d", 0, "good", vec![1.0, 1.0]), record("d", 1, "bad", vec![1.0; 3])];
    let error = store.insert(&collection(2), records).await.unwrap_err();
    assert!(matches!(error, RagError::Dimensions { expected: 2, found: 3, .. }), "{error}");
    let error = store.search(&collection(2), SearchRequest::vector(&[1.0], 1)).await.unwrap_err();
    assert!(matches!(error, RagError::Dimensions { expected: 2, found: 1, .. }), "{error}");
    assert_eq!(store.list_documents(&collection(2), None).await.unwrap(), []);
    drop(store);
    let store = open(&folder);
    let error = store.ensure_collection(&collection(3)).await.unwrap_err();
    assert!(matches!(error, RagError::Dimensions { expected: 2, found: 3, .. }), "{error}");
    let error = store.ensure_collection(&collection(None)).await.unwrap_err();
    assert!(error.to_string().contains("is there with vectors"), "{error}");
}

#[tokio::test]
async fn words_alone_need_no_vectors_and_take_none() {
    let store = EmbeddedStore::in_memory();
    let words = collection(None);
    store.ensure_collection(&words).await.unwrap();
    store.insert(&words, vec![record("d", 0, "an onion", None)]).await.unwrap();
    assert_eq!(store.search(&words, SearchRequest::text("onion", 5)).await.unwrap().len(), 1);
    for error in [
        store.insert(&words, vec![record("d", 1, "a leek", vec![1.0])]).await.unwrap_err(),
        store.search(&words, SearchRequest::vector(&[1.0], 5)).await.unwrap_err(),
    ] {
        assert!(matches!(error, RagError::Unsupported { .. }), "{error}");
    }
}

#[tokio::test]
async fn thresholds_of_fused_scores_and_searches_for_nothing() {
    let store = EmbeddedStore::in_memory();
    store.ensure_collection(&collection(1)).await.unwrap();
    let request = SearchRequest::hybrid(&[1.0], "onion", 5).with_score_threshold(0.5);
    let error = store.search(&collection(1), request).await.unwrap_err();
    assert!(error.to_string().contains("threshold"), "{error}");
    let mut nothing = SearchRequest::text("", 5);
    nothing.text = None;
    let error = store.search(&collection(1), nothing).await.unwrap_err();
    assert!(matches!(error, RagError::Unsupported { .. }), "{error}");
}

#[tokio::test]
async fn collections_that_are_not_there() {
    let folder = tempfile::tempdir().unwrap();
    for store in [EmbeddedStore::in_memory(), open(&folder)] {
        let other = Collection::new("other", 1).unwrap();
        let error = store.search(&other, SearchRequest::vector(&[1.0], 5)).await.unwrap_err().to_string();
        assert!(error.contains("no collection `other`"), "{error}");
        store.ensure_collection(&other).await.unwrap();
        assert_eq!(store.search(&other, SearchRequest::vector(&[1.0], 5)).await.unwrap(), []);
    }
}
