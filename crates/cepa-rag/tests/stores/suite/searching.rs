//! Searches, beside what a search by hand gives.

use cepa_rag::{Collection, Filter, Hit, RagError, SearchRequest, VectorRecord, VectorStore};

use super::filled;
use crate::data::{filter, metadata, record, some, text, vectors, with_metadata};

/// How far scores may be from a cosine.
const CLOSE: f32 = 1e-4;

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    let dot = |one: &[f32], other: &[f32]| {
        one.iter().zip(other).map(|(&one, &other)| f64::from(one) * f64::from(other)).sum::<f64>()
    };
    let lengths = (dot(one, one) * dot(other, other)).sqrt();
    if lengths == 0.0 { 0.0 } else { (dot(one, other) / lengths) as f32 }
}

/// The cosine of each, the best first.
fn by_hand<'a>(records: &'a [VectorRecord], query: &[f32]) -> Vec<(f32, &'a VectorRecord)> {
    let score = |record: &VectorRecord| cosine(record.vector.as_deref().unwrap(), query);
    let mut scored: Vec<_> = records.iter().map(|record| (score(record), record)).collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0));
    scored
}

/// Hits have the scores of a search by hand, in order, and each is what it says.
fn check(hits: &[Hit], records: &[VectorRecord], query: &[f32], expected: &[(f32, &VectorRecord)]) {
    let found: Vec<_> = hits.iter().map(|hit| hit.score).collect();
    let wanted: Vec<_> = expected.iter().map(|(score, _)| *score).collect();
    let close = found.iter().zip(&wanted).all(|(one, other)| (one - other).abs() < CLOSE);
    assert!(close && found.len() == wanted.len(), "found {found:?}\nwanted {wanted:?}");
    assert!(found.is_sorted_by(|one, other| one >= other));
    for hit in hits {
        let of = |record: &&VectorRecord| record.document_id == hit.document_id && record.chunk == hit.chunk;
        let record = records.iter().find(of).unwrap_or_else(|| panic!("{hit:?} was never kept"));
        assert!((cosine(record.vector.as_deref().unwrap(), query) - hit.score).abs() < CLOSE);
    }
}

pub(super) async fn the_nearest_come_first(store: &dyn VectorStore) {
    let all = vectors(80, 6);
    let mut records: Vec<_> = all
        .iter()
        .enumerate()
        .map(|(at, vector)| {
            // Neither the length of a vector nor its opposite matters.
            let length = [0.01, 1.0, 250.0][at % 3];
            record(
                &format!("doc-{}", at / 4),
                "1",
                (at % 4) as u32,
                4,
                vector.iter().map(|x| x * length).collect(),
            )
        })
        .collect();
    records.push(record("nothing", "1", 0, 1, vec![0.0; 6]));
    let opposite = all[0].iter().map(|x| -x).collect();
    records.push(record("opposite", "1", 0, 1, opposite));
    let collection = filled(store, "nearest", &records).await;
    for query in &all[..10] {
        let expected = by_hand(&records, query);
        for top_k in [1, 7, 81, 500] {
            let request = SearchRequest::vector(query, top_k);
            let hits = store.search(&collection, request).await.unwrap();
            check(&hits, &records, query, &expected[..top_k.min(expected.len())]);
        }
        assert_eq!(store.search(&collection, SearchRequest::vector(query, 0)).await.unwrap(), []);
        for threshold in [-1.0, -0.5, 0.25, 0.9, 1.1] {
            // Where rounding decides, either will do.
            if expected.iter().any(|(score, _)| (score - threshold).abs() < CLOSE) && threshold > -1.0 {
                continue;
            }
            let request = SearchRequest::vector(query, 500).with_score_threshold(threshold);
            let hits = store.search(&collection, request).await.unwrap();
            let reach = expected.iter().filter(|(score, _)| *score >= threshold - CLOSE).count();
            check(&hits, &records, query, &expected[..reach]);
        }
    }
    // The opposite, and what is like nothing.
    let hits = store.search(&collection, SearchRequest::vector(&all[0], 500)).await.unwrap();
    assert!(
        (hits.last().unwrap().score + 1.0).abs() < CLOSE && hits.last().unwrap().document_id == "opposite"
    );
    let like_nothing = store.search(&collection, SearchRequest::vector(&[0.0; 6], 500)).await.unwrap();
    assert!(like_nothing.iter().all(|hit| hit.score == 0.0), "{:?}", like_nothing[0]);
}

/// Records with metadata by chance.
pub(super) fn with_chance(name: &str) -> Vec<VectorRecord> {
    let all = vectors(90, 5).into_iter().zip(some(90, metadata())).enumerate();
    let records = all.map(|(at, (vector, metadata))| {
        with_metadata(record(&format!("{name}-{}", at / 3), "1", (at % 3) as u32, 3, vector), metadata)
    });
    records.collect()
}

pub(super) async fn a_filter_finds_what_it_matches(store: &dyn VectorStore) {
    let records = with_chance("filtered");
    let collection = filled(store, "filtered", &records).await;
    let query = &vectors(1, 5)[0];
    let mut refused = 0;
    let mut partly = 0;
    let filters = some(250, filter());
    for filter in &filters {
        let matching: Vec<_> =
            records.iter().filter(|record| filter.matches(&record.chunk.metadata)).cloned().collect();
        partly += usize::from(!matching.is_empty() && matching.len() < records.len());
        let request = SearchRequest::vector(query, 500).with_filter(filter);
        match store.search(&collection, request).await {
            Ok(hits) => {
                let expected = by_hand(&matching, query);
                assert_eq!(hits.len(), expected.len(), "{filter:?}");
                check(&hits, &matching, query, &expected);
                let few = SearchRequest::vector(query, 2).with_filter(filter);
                let hits = store.search(&collection, few).await.unwrap();
                check(&hits, &matching, query, &expected[..expected.len().min(2)]);
            }
            Err(error) => {
                assert!(matches!(error, RagError::Unsupported { .. }), "{filter:?}: {error:?}");
                refused += 1;
                continue;
            }
        }
        // The same in lists.
        let documents = store.list_documents(&collection, Some(filter)).await.unwrap();
        let listed: u32 = documents.iter().map(|document| document.chunk_count).sum();
        assert_eq!(listed as usize, matching.len(), "{filter:?}");
        let first = store.list_chunks(&collection, "filtered-0", 0, 10, Some(filter)).await.unwrap();
        let expected = matching.iter().filter(|record| record.document_id == "filtered-0");
        assert_eq!(first, expected.map(|record| record.chunk.clone()).collect::<Vec<_>>(), "{filter:?}");
    }
    println!("{}: {refused} of {} filters were refused", store.name(), filters.len());
    assert!(refused * 3 < filters.len() && partly * 4 > filters.len(), "{refused} refused, {partly} of use");
}

pub(super) async fn what_a_store_cannot_do_is_refused(store: &dyn VectorStore) {
    let records = vec![record("one", "1", 0, 1, vec![1.0, 0.0])];
    let collection = filled(store, "refusals", &records).await;
    if !store.has_keywords() {
        for request in [SearchRequest::text("one", 5), SearchRequest::hybrid(&[1.0, 0.0], "one", 5)] {
            let error = store.search(&collection, request).await.unwrap_err();
            assert!(matches!(error, RagError::Unsupported { .. }), "{error:?}");
            assert!(error.to_string().contains("words"), "{error}");
        }
    }
    let no_number = with_metadata(records[0].clone(), [("x".to_owned(), f64::NAN.into())].into());
    for wrong in [record("two", "1", 0, 1, vec![f32::NAN, 0.0]), no_number] {
        store.insert(&collection, vec![wrong]).await.unwrap_err();
    }
    store.search(&collection, SearchRequest::vector(&[f32::INFINITY, 0.0], 5)).await.unwrap_err();
    let kept = store.list_documents(&collection, None).await.unwrap();
    assert_eq!(kept.len(), 1);
}

/// For stores that search by words as well.
pub(super) async fn words_are_found(store: &dyn VectorStore) {
    let collection = Collection::new("worded", 2).unwrap();
    store.ensure_collection(&collection).await.unwrap();
    let said =
        [("onion", "An onion has many layers."), ("tea", "Green tea needs no sugar."), ("bread", "Bread.")];
    let records = said.iter().enumerate().map(|(at, (name, words))| {
        let mut record = record(name, "1", 0, 1, vec![1.0, at as f32]);
        record.chunk.content = text(words);
        with_metadata(record, [("at".to_owned(), (at as i64).into())].into())
    });
    store.insert(&collection, records.collect()).await.unwrap();
    let found = |hits: Vec<Hit>| hits.into_iter().map(|hit| hit.document_id).collect::<Vec<_>>();
    let hits = store.search(&collection, SearchRequest::text("layers of onions: onion", 5)).await.unwrap();
    assert!(hits[0].score > 0.0);
    assert_eq!(found(hits), ["onion"]);
    let filter = Filter::gt("at", 0);
    let request = SearchRequest::text("onion, tea", 5).with_filter(&filter);
    assert_eq!(found(store.search(&collection, request).await.unwrap()), ["tea"]);
    let request = SearchRequest::hybrid(&[1.0, 2.0], "bread", 1);
    assert_eq!(found(store.search(&collection, request).await.unwrap()), ["bread"]);
    let error = store.search(&collection, request.with_score_threshold(0.5)).await.unwrap_err();
    assert!(matches!(error, RagError::Unsupported { .. } | RagError::Settings(_)), "{error:?}");
    store.delete(&collection, "onion", None, None).await.unwrap();
    assert_eq!(found(store.search(&collection, SearchRequest::text("onion", 5)).await.unwrap()), [""; 0]);
}
