//! Points of Qdrant.

use serde_json::{Value, json};

use super::STORE;
use crate::{
    Hit, MetadataKind, RagError,
    remote::{self, Ready, Row, tag},
};

/// A record as a point.
pub(super) fn point(record: Ready) -> Value {
    let Ready { id, document_id, version, chunk, json, vector } = record;
    let mut payload = Value::Object(remote::fields(&chunk.metadata, encoded));
    payload["document_id"] = document_id.into();
    payload["version"] = version.into();
    payload["source"] = chunk.source.into();
    payload["chunk_index"] = chunk.chunk_index.into();
    payload["total_chunks"] = chunk.total_chunks.into();
    payload["chunk"] = json.into();
    json!({"id": id.to_string(), "vector": vector, "payload": payload})
}

/// A point of this crate, as it is listed.
pub(super) fn row(point: &Value) -> Option<Row> {
    let payload = &point["payload"];
    let text = |name: &str| payload[name].as_str().map(str::to_owned);
    let number = |name: &str| payload[name].as_u64().and_then(|number| u32::try_from(number).ok());
    Some(Row {
        id: point["id"].as_str()?.to_owned(),
        document_id: text("document_id")?,
        version: text("version")?,
        source: text("source")?,
        index: number("chunk_index")?,
        total: number("total_chunks")?,
        metadata: remote::metadata(payload, decoded),
    })
}

/// A point that was found, if it is of this crate.
pub(super) fn hit(point: &Value) -> Option<Result<Hit, RagError>> {
    let (id, json) = (point["payload"]["document_id"].as_str()?, point["payload"]["chunk"].as_str()?);
    let Some(score) = point["score"].as_f64() else {
        return Some(Err(STORE.nonsense("it found a point without `score`")));
    };
    #[expect(clippy::cast_possible_truncation, reason = "scores are no more exact than vectors")]
    let score = score.clamp(-1.0, 1.0) as f32;
    Some(STORE.chunk(json).map(|chunk| Hit::new(score, id, chunk)))
}

/// Where the values of a field are in the payload.
pub(super) fn key(kind: MetadataKind, field: &str) -> String {
    format!("{}.{}", tag(kind), encoded(field))
}

/// A field's name as a key that Qdrant reads as one: other characters than letters, digits and `_` are written as
/// hexadecimal numbers between hyphens.
fn encoded(field: &str) -> String {
    let mut key = String::with_capacity(field.len());
    for character in field.chars() {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => key.push(character),
            other => key.push_str(&format!("-{:x}-", u32::from(other))),
        }
    }
    // A key is never empty.
    if key.is_empty() { "--".to_owned() } else { key }
}

fn decoded(key: &str) -> String {
    // Every second part is a number.
    let parts = key.split('-').enumerate().map(|(index, part)| match index % 2 {
        0 => part.to_owned(),
        _ => {
            u32::from_str_radix(part, 16).ok().and_then(char::from_u32).map(String::from).unwrap_or_default()
        }
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{decoded, encoded};

    proptest! {
        #[test]
        fn names_come_back_and_are_plain_keys(name in any::<String>(), other in "[-a.0]{0,4}") {
            for name in [&name, &other] {
                let key = encoded(name);
                prop_assert!(!key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)));
                prop_assert_eq!(&decoded(&key), name);
            }
        }
    }
}
