//! Records of Chroma.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::STORE;
use crate::{
    Hit, RagError,
    remote::{self, Ready, Row, tag},
};

/// The metadata of a record. A value stands under its kind and name, `integer.year`, and `kind.year` says which kind.
pub(super) fn metadata(record: &Ready) -> Map<String, Value> {
    let chunk = &record.chunk;
    let mut metadata = Map::from_iter([
        ("document_id".to_owned(), record.document_id.as_str().into()),
        ("version".to_owned(), record.version.as_str().into()),
        ("source".to_owned(), chunk.source.as_str().into()),
        ("chunk_index".to_owned(), chunk.chunk_index.into()),
        ("total_chunks".to_owned(), chunk.total_chunks.into()),
    ]);
    for (kind, fields) in remote::fields(&chunk.metadata, str::to_owned) {
        let Value::Object(fields) = fields else { continue };
        for (field, value) in fields {
            metadata.insert(format!("kind.{field}"), kind.as_str().into());
            metadata.insert(format!("{kind}.{field}"), value);
        }
    }
    metadata
}

/// A record of this crate, as it is listed.
pub(super) fn row(id: &str, known: &Value) -> Option<Row> {
    let text = |name: &str| known[name].as_str().map(str::to_owned);
    let number = |name: &str| known[name].as_u64().and_then(|number| u32::try_from(number).ok());
    let mut fields = json!({});
    for (name, value) in known.as_object()? {
        use crate::MetadataKind::{Bool, Float, Integer, Text};
        if let Some((kind, field)) = name.split_once('.')
            && [Bool, Integer, Float, Text].iter().any(|known| tag(*known) == kind)
        {
            fields[kind][field] = value.clone();
        }
    }
    Some(Row {
        id: id.to_owned(),
        document_id: text("document_id")?,
        version: text("version")?,
        source: text("source")?,
        index: number("chunk_index")?,
        total: number("total_chunks")?,
        metadata: remote::metadata(&fields, str::to_owned),
    })
}

/// What an answer has of each record.
pub(super) fn by_id<'a>(answer: &'a Value, what: &str) -> Option<HashMap<&'a str, &'a Value>> {
    let (ids, values) = (answer["ids"].as_array()?, answer[what].as_array()?);
    ids.iter().zip(values).map(|(id, value)| Some((id.as_str()?, value))).collect()
}

/// What was found. `None`: the answer is none.
pub(super) fn hits(answer: &Value) -> Result<Vec<Hit>, Option<RagError>> {
    let list = |what: &str| answer[what][0].as_array().ok_or(None);
    let (documents, metadatas, distances) = (list("documents")?, list("metadatas")?, list("distances")?);
    let mut hits = Vec::new();
    for ((document, metadata), distance) in documents.iter().zip(metadatas).zip(distances) {
        // Records of others in the same collection are none of ours.
        let (Some(json), Some(id)) = (document.as_str(), metadata["document_id"].as_str()) else { continue };
        let distance = distance.as_f64().ok_or(None)?;
        #[expect(clippy::cast_possible_truncation, reason = "scores are no more exact than vectors")]
        let score = (1.0 - distance).clamp(-1.0, 1.0) as f32;
        hits.push(Hit::new(score, id, STORE.chunk(json).map_err(Some)?));
    }
    Ok(hits)
}
