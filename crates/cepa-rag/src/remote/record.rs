//! Records on their way into a store and back.

use std::collections::HashMap;

use serde_json::{Map, Value};
use uuid::Uuid;

#[cfg(any(feature = "chroma", feature = "qdrant"))]
use crate::DocumentSummary;
use crate::unit::unit;
use crate::{
    Chunk, Collection, Hit, Metadata, MetadataKind, MetadataValue, RagError, SearchRequest, VectorRecord,
};

/// Of the ids of this crate's records.
const NAMESPACE: Uuid = Uuid::from_u128(0x6b1d_5a0e_41f7_4e0b_9d0c_2f6f_5b7f_c3aa);

/// A store, by its name, as its checks and errors know it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Store(pub(crate) &'static str);

/// A record that a store can take.
pub(crate) struct Ready {
    pub(crate) id: Uuid,
    pub(crate) document_id: String,
    pub(crate) version: String,
    pub(crate) chunk: Chunk,
    /// The chunk, as it is kept.
    pub(crate) json: String,
    /// Of length 1, or 0.
    pub(crate) vector: Vec<f32>,
}

impl Store {
    pub(crate) fn unsupported(self, reason: impl Into<String>) -> RagError {
        RagError::Unsupported { store: self.0.to_owned(), reason: reason.into() }
    }

    /// The store says what it should not.
    pub(crate) fn nonsense(self, reason: impl Into<String>) -> RagError {
        RagError::Service {
            service: self.0.to_owned(),
            reason: reason.into(),
            is_transient: false,
            source: None,
        }
    }

    pub(crate) fn dimensions(self, collection: &Collection) -> Result<usize, RagError> {
        collection.dimensions().ok_or_else(|| {
            self.unsupported(format!(
                "collection `{}` has no vectors, and this store does not search by words: give the collection \
                 dimensions, or take a store that has keywords",
                collection.name()
            ))
        })
    }

    /// The records, without those that later ones replace.
    pub(crate) fn ready(
        self,
        collection: &Collection,
        records: Vec<VectorRecord>,
    ) -> Result<Vec<Ready>, RagError> {
        let mut places = HashMap::new();
        let mut all: Vec<Ready> = Vec::with_capacity(records.len());
        for record in records {
            let record = self.ready_one(collection, record)?;
            match places.get(&record.id) {
                Some(&place) => all[place] = record,
                None => {
                    places.insert(record.id, all.len());
                    all.push(record);
                }
            }
        }
        Ok(all)
    }

    fn ready_one(self, collection: &Collection, record: VectorRecord) -> Result<Ready, RagError> {
        let VectorRecord { document_id, version, chunk, vector } = record;
        let vector = self.unit(collection, vector.as_deref().unwrap_or_default())?;
        let endless = chunk.metadata.iter().find(|(_, value)| value.as_f64().is_some_and(|n| !n.is_finite()));
        if let Some((field, value)) = endless {
            return Err(self.unsupported(format!("`{field}` of `{document_id}` is {value}: leave it out")));
        }
        let json = serde_json::to_string(&chunk)
            .map_err(|error| self.unsupported(format!("a chunk of `{document_id}`: {error}")))?;
        let id = id(&document_id, &version, chunk.chunk_index);
        Ok(Ready { id, document_id, version, chunk, json, vector })
    }

    /// The vector of a search, of length 1. What no such store does is refused.
    pub(crate) fn query(
        self,
        collection: &Collection,
        request: &SearchRequest<'_>,
    ) -> Result<Vec<f32>, RagError> {
        if request.text.is_some() {
            return Err(self.unsupported(
                "it does not search by words: ask by a vector alone, or take a store that has keywords",
            ));
        }
        let Some(vector) = request.vector else {
            return Err(self.unsupported("a search without a vector finds nothing"));
        };
        self.unit(collection, vector)
    }

    /// The vector with length 1, so that stores with other arithmetic than cosines' give the same scores.
    fn unit(self, collection: &Collection, vector: &[f32]) -> Result<Vec<f32>, RagError> {
        let expected = self.dimensions(collection)?;
        if vector.len() != expected {
            let place = format!("collection `{}`", collection.name());
            return Err(RagError::Dimensions { place, expected, found: vector.len() });
        }
        unit(vector).map_err(|reason| self.unsupported(format!("a vector cannot be used, as {reason}")))
    }

    /// A chunk as it was kept.
    pub(crate) fn chunk(self, json: &str) -> Result<Chunk, RagError> {
        serde_json::from_str(json)
            .map_err(|error| self.nonsense(format!("it holds a chunk that cannot be read ({error})")))
    }
}

fn id(document_id: &str, version: &str, index: u32) -> Uuid {
    // With their lengths, so that no two records are spelled the same.
    let name = format!("{}:{document_id}{}:{version}{index}", document_id.len(), version.len());
    Uuid::new_v5(&NAMESPACE, name.as_bytes())
}

/// Batches of at most so many records and about so many bytes.
pub(crate) fn batches(records: Vec<Ready>, most: usize, bytes: usize) -> Vec<Vec<Ready>> {
    let mut batches: Vec<Vec<Ready>> = Vec::new();
    let mut size = 0;
    for record in records {
        // A number of a vector is a dozen characters; metadata stand in a record twice.
        let own = record.json.len() * 2 + record.vector.len() * 12 + record.document_id.len() + 200;
        match batches.last_mut() {
            Some(batch) if batch.len() < most && size + own <= bytes => {
                size += own;
                batch.push(record);
            }
            _ => {
                size = own;
                batches.push(vec![record]);
            }
        }
    }
    batches
}

/// The hits that reach the threshold, the best first.
pub(crate) fn best(mut hits: Vec<Hit>, request: &SearchRequest<'_>) -> Vec<Hit> {
    hits.retain(|hit| request.score_threshold.is_none_or(|threshold| hit.score >= threshold));
    hits.sort_by(|one, other| {
        let place = |hit: &Hit| (hit.chunk.chunk_index, hit.chunk.position.lines);
        (other.score.total_cmp(&one.score))
            .then_with(|| one.document_id.cmp(&other.document_id))
            .then_with(|| place(one).cmp(&place(other)))
    });
    hits.truncate(request.top_k);
    hits
}

/// What a kind of metadata is called in a store.
pub(crate) fn tag(kind: MetadataKind) -> &'static str {
    match kind {
        MetadataKind::Bool => "bool",
        MetadataKind::Integer => "integer",
        MetadataKind::Float => "float",
        MetadataKind::Text => "text",
    }
}

/// Metadata by their kinds: `{"integer": {"year": 2024}}`.
pub(crate) fn fields(metadata: &Metadata, name: impl Fn(&str) -> String) -> Map<String, Value> {
    let mut fields = Map::new();
    for (field, value) in metadata {
        let of_kind = fields.entry(tag(value.kind())).or_insert_with(|| Value::Object(Map::new()));
        of_kind[name(field)] = plain(value);
    }
    fields
}

/// A value as JSON.
pub(crate) fn plain(value: &MetadataValue) -> Value {
    match value {
        MetadataValue::Bool(value) => (*value).into(),
        MetadataValue::Integer(value) => (*value).into(),
        MetadataValue::Float(value) => (*value).into(),
        MetadataValue::Text(value) => value.as_str().into(),
    }
}

/// [`fields`], read back.
pub(crate) fn metadata(fields: &Value, name: impl Fn(&str) -> String) -> Metadata {
    let mut metadata = Metadata::new();
    for kind in [MetadataKind::Bool, MetadataKind::Integer, MetadataKind::Float, MetadataKind::Text] {
        for (field, value) in fields[tag(kind)].as_object().into_iter().flatten() {
            let value = match kind {
                MetadataKind::Bool => value.as_bool().map(Into::into),
                MetadataKind::Integer => value.as_i64().map(Into::into),
                MetadataKind::Float => value.as_f64().map(Into::into),
                MetadataKind::Text => value.as_str().map(Into::into),
            };
            metadata.extend(value.map(|value| (name(field), value)));
        }
    }
    metadata
}

/// What of a record is read to list it.
#[cfg(any(feature = "chroma", feature = "qdrant"))]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) document_id: String,
    pub(crate) version: String,
    pub(crate) source: String,
    pub(crate) index: u32,
    pub(crate) total: u32,
    pub(crate) metadata: Metadata,
}

/// The documents of these rows.
#[cfg(any(feature = "chroma", feature = "qdrant"))]
pub(crate) fn summaries(rows: Vec<Row>) -> Vec<DocumentSummary> {
    let mut documents = std::collections::BTreeMap::<_, (u32, DocumentSummary)>::new();
    for row in rows {
        let key = (row.document_id.clone(), row.version.clone());
        let fresh = DocumentSummary::new(row.document_id, row.source, row.version, 0, row.total);
        let (first, document) = documents.entry(key).or_insert((u32::MAX, fresh));
        document.chunk_count += 1;
        // What is told of a document is what its first chunk says.
        if row.index < *first {
            *first = row.index;
            document.metadata = row.metadata;
        }
    }
    documents.into_values().map(|(_, document)| document).collect()
}

/// The ids of the chunks of one page.
#[cfg(any(feature = "chroma", feature = "qdrant"))]
pub(crate) fn page_of(mut rows: Vec<Row>, offset: u32, limit: u32) -> Vec<String> {
    rows.sort_by(|one, other| (one.index, &one.version).cmp(&(other.index, &other.version)));
    let (offset, limit) = (offset as usize, limit as usize);
    rows.into_iter().skip(offset).take(limit).map(|row| row.id).collect()
}
