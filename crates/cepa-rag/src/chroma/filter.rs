//! Filters in Chroma's terms.

use serde_json::{Value, json};

use super::STORE;
use crate::{
    Filter, MetadataKind, MetadataValue, RagError,
    remote::{Comparison, Test, plain, tag},
};

/// Which records an operation is about.
pub(super) enum Condition {
    All,
    None,
    Where(Value),
}

impl Condition {
    /// As `where`.
    pub(super) fn value(&self) -> Option<&Value> {
        match self {
            Self::Where(value) => Some(value),
            Self::All | Self::None => None,
        }
    }
}

/// The records of a document, but for one version, that pass the filter.
pub(super) fn condition(
    document_id: Option<&str>,
    but_version: Option<&str>,
    filter: Option<&Filter>,
) -> Result<Condition, RagError> {
    let mut all = Vec::new();
    all.extend(document_id.map(|id| json!({"document_id": {"$eq": id}})));
    all.extend(but_version.map(|version| json!({"version": {"$ne": version}})));
    match filter.map_or(Test::Always, Test::of) {
        Test::Always => {}
        Test::Never => return Ok(Condition::None),
        test => all.push(of(&test)?),
    }
    Ok(match all.len() {
        0 => Condition::All,
        1 => Condition::Where(all.remove(0)),
        _ => Condition::Where(json!({"$and": all})),
    })
}

fn of(test: &Test) -> Result<Value, RagError> {
    let list = |tests: &[Test]| tests.iter().map(of).collect::<Result<Vec<_>, _>>();
    Ok(match test {
        Test::All(tests) => json!({"$and": list(tests)?}),
        Test::Any(tests) => json!({"$or": list(tests)?}),
        // `Test` has these at its top alone.
        Test::Always | Test::Never => return Err(STORE.unsupported("a filter that always or never holds")),
        Test::Has { kind, field, there } => has(*kind, field, *there),
        Test::Compare { field, value: MetadataValue::Text(_), .. } => {
            return Err(STORE.unsupported(format!(
                "Chroma knows no order of texts, and the filter asks for it (`{field}`): compare numbers, or name the \
                 texts (`Filter::one_of`)"
            )));
        }
        Test::Compare { field, comparison, value } => {
            let operator = match comparison {
                Comparison::Less => "$lt",
                Comparison::AtMost => "$lte",
                Comparison::More => "$gt",
                Comparison::AtLeast => "$gte",
            };
            json!({key(value.kind(), field): {operator: plain(value)}})
        }
        Test::Among { field, values, among } => {
            let kind = values.first().map_or(MetadataKind::Text, MetadataValue::kind);
            let values: Vec<_> = values.iter().map(plain).collect();
            match among {
                true => json!({key(kind, field): {"$in": values}}),
                // By itself, it holds for a record without the field.
                false => json!({"$and": [has(kind, field, true), {key(kind, field): {"$nin": values}}]}),
            }
        }
    })
}

fn key(kind: MetadataKind, field: &str) -> String {
    format!("{}.{field}", tag(kind))
}

fn has(kind: MetadataKind, field: &str, there: bool) -> Value {
    // `$ne` holds for a record without the field as well.
    let operator = if there { "$eq" } else { "$ne" };
    json!({format!("kind.{field}"): {operator: tag(kind)}})
}
