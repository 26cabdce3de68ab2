//! What a store might stumble over.

use cepa_core::OutputBlock;
use cepa_rag::{Collection, Filter, Metadata, Position, SearchRequest, VectorStore};

use super::filled;
use crate::data::{record, text, vectors, with_metadata};

pub(super) async fn odd_texts_come_back(store: &dyn VectorStore) {
    let long = "é".repeat(5000);
    let odd = [
        "it's; DROP TABLE x; --",
        "nul\0 \u{1} \u{1}\u{2} end",
        "{\"$ne\": null} {context} {{}} $1 %s ${x}",
        "back\\slash \\u0000 \"quotes\" `ticks`",
        "👩‍👩‍👧 ك עברית 日本 \u{feff}\u{202e}",
        "line\r\nbreak\ttab",
        " ",
        "*",
        &long,
    ];
    let mut records: Vec<_> = odd
        .iter()
        .map(|odd| {
            // A name is no book.
            let name: String = odd.chars().take(200).collect();
            let metadata = Metadata::from_iter([(name, "x".into()), ("value".to_owned(), (*odd).into())]);
            let mut record = with_metadata(record(odd, odd, 0, 2, vec![1.0, 2.0]), metadata);
            record.chunk.source = (*odd).to_owned();
            record.chunk.content = text(odd);
            record.chunk.position = Position::new().with_lines(3, 4);
            record.chunk.position.headings = vec![(*odd).to_owned()];
            record
        })
        .collect();
    // What is no text is kept as well.
    let image =
        r#"{"type":"data","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}"#;
    let image: OutputBlock = serde_json::from_str(image).unwrap();
    records.push(record("image", "1", 0, 1, vec![1.0, 2.0]));
    records.last_mut().unwrap().chunk.content = image;
    let collection = filled(store, "odd-texts", &records).await;
    let hits = store.search(&collection, SearchRequest::vector(&[1.0, 2.0], 50)).await.unwrap();
    assert_eq!(hits.len(), records.len());
    let documents = store.list_documents(&collection, None).await.unwrap();
    assert_eq!(documents.len(), records.len());
    for record in &records {
        let id = &record.document_id;
        assert!(hits.iter().any(|hit| hit.document_id == *id && hit.chunk == record.chunk), "{id:?}");
        let document = documents.iter().find(|document| document.document_id == *id).unwrap();
        assert_eq!(document.metadata, record.chunk.metadata);
        assert_eq!((&document.version, &document.source), (&record.version, &record.chunk.source));
        let chunks = store.list_chunks(&collection, id, 0, 5, None).await.unwrap();
        assert_eq!(chunks, std::slice::from_ref(&record.chunk), "{id:?}");
        for (name, value) in &record.chunk.metadata {
            let filter = Filter::Eq(name.clone(), value.clone());
            let request = SearchRequest::vector(&[1.0, 2.0], 50).with_filter(&filter);
            let found = store.search(&collection, request).await.unwrap();
            assert!(found.len() == 1 && found[0].document_id == *id, "{name:?}: {found:?}");
        }
    }
    for record in &records {
        store.delete(&collection, &record.document_id, Some("another"), None).await.unwrap();
    }
    assert_eq!(store.list_documents(&collection, None).await.unwrap(), []);
}

pub(super) async fn many_records_at_once(store: &dyn VectorStore, other: &dyn VectorStore) {
    let all = vectors(2000, 48);
    let records =
        all.iter().zip(0..2000_u32).map(|(vector, at)| record("many", "1", at, 2000, vector.clone()));
    let collection = Collection::new("many", 48).unwrap();
    store.ensure_collection(&collection).await.unwrap();
    store.insert(&collection, records.collect()).await.unwrap();
    // They are there at once, for everyone.
    let documents = other.list_documents(&collection, None).await.unwrap();
    assert!(documents.len() == 1 && documents[0].is_whole(), "{documents:?}");
    for at in [0, 999, 1999] {
        let hits = other.search(&collection, SearchRequest::vector(&all[at], 1)).await.unwrap();
        assert_eq!(hits[0].chunk.chunk_index as usize, at);
    }
    store.delete(&collection, "many", None, None).await.unwrap();
    assert_eq!(other.list_documents(&collection, None).await.unwrap(), []);
}

/// Answers over HTTP are read up to 16 MiB.
pub(super) async fn more_than_one_answer_holds_is_found(store: &dyn VectorStore) {
    let long = "onion ".repeat(100_000);
    let records: Vec<_> = (0..40_u8)
        .map(|at| {
            let mut record = record("long", "1", at.into(), 40, vec![1.0, f32::from(at)]);
            record.chunk.content = text(&format!("{at}: {long}"));
            record
        })
        .collect();
    let collection = filled(store, "long-chunks", &records).await;
    let hits = store.search(&collection, SearchRequest::vector(&[1.0, 0.0], 40)).await.unwrap();
    assert!(
        hits.iter().map(|hit| &hit.chunk).eq(records.iter().map(|record| &record.chunk)),
        "{}",
        hits.len()
    );
    let chunks = store.list_chunks(&collection, "long", 0, 40, None).await.unwrap();
    assert!(chunks.iter().eq(records.iter().map(|record| &record.chunk)), "{}", chunks.len());
}
