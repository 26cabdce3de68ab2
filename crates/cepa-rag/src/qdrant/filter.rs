//! Filters in Qdrant's terms.

use serde_json::{Value, json};

use super::{STORE, points::key};
use crate::{
    Filter, MetadataKind, MetadataValue, RagError,
    remote::{Comparison, Test, plain},
};

/// From here on, neighbouring whole numbers are one in Qdrant's ranges.
const ROUNDED: u64 = 1 << 53;

/// The points of a document, but for one version, that pass the filter. `None`: there are none.
pub(super) fn points(
    document_id: Option<&str>,
    but_version: Option<&str>,
    filter: Option<&Filter>,
) -> Result<Option<Value>, RagError> {
    let is = |name: &str, value: &str| json!({"key": name, "match": {"value": value}});
    let mut must: Vec<_> = document_id.map(|id| is("document_id", id)).into_iter().collect();
    match filter.map_or(Test::Always, Test::of) {
        Test::Always => {}
        Test::Never => return Ok(None),
        test => must.push(of(&test)?),
    }
    let must_not: Vec<_> = but_version.map(|version| is("version", version)).into_iter().collect();
    Ok(Some(json!({"must": must, "must_not": must_not})))
}

fn of(test: &Test) -> Result<Value, RagError> {
    let list = |tests: &[Test]| tests.iter().map(of).collect::<Result<Vec<_>, _>>();
    Ok(match test {
        Test::All(tests) => json!({"must": list(tests)?}),
        Test::Any(tests) => json!({"should": list(tests)?}),
        // `Test` has these at its top alone.
        Test::Always | Test::Never => return Err(STORE.unsupported("a filter that always or never holds")),
        Test::Has { kind, field, there: true } => json!({"must_not": [empty(*kind, field)]}),
        Test::Has { kind, field, there: false } => empty(*kind, field),
        Test::Compare { field, comparison, value } => compare(field, *comparison, value)?,
        Test::Among { field, values, among: true } => among(field, values),
        Test::Among { field, values, among: false } => {
            let kind = values.first().map_or(MetadataKind::Text, MetadataValue::kind);
            json!({"must_not": [empty(kind, field), among(field, values)]})
        }
    })
}

fn empty(kind: MetadataKind, field: &str) -> Value {
    json!({"is_empty": {"key": key(kind, field)}})
}

fn compare(field: &str, comparison: Comparison, value: &MetadataValue) -> Result<Value, RagError> {
    let bound = match value {
        MetadataValue::Float(value) => Value::from(*value),
        MetadataValue::Integer(value) if value.unsigned_abs() < ROUNDED => (*value).into(),
        MetadataValue::Integer(value) => {
            return Err(STORE.unsupported(format!(
                "Qdrant rounds whole numbers like {value} when it compares them, and the filter asks for their order \
                 (`{field}`)"
            )));
        }
        MetadataValue::Text(_) | MetadataValue::Bool(_) => {
            return Err(STORE.unsupported(format!(
                "Qdrant knows no order of texts, and the filter asks for it (`{field}`): compare numbers, or name the \
                 texts (`Filter::one_of`)"
            )));
        }
    };
    let operator = match comparison {
        Comparison::Less => "lt",
        Comparison::AtMost => "lte",
        Comparison::More => "gt",
        Comparison::AtLeast => "gte",
    };
    Ok(json!({"key": key(value.kind(), field), "range": {operator: bound}}))
}

fn among(field: &str, values: &[MetadataValue]) -> Value {
    let kind = values.first().map_or(MetadataKind::Text, MetadataValue::kind);
    let key = key(kind, field);
    let each = |of: fn(&str, Value) -> Value| {
        let conditions = values.iter().map(|value| of(&key, plain(value)));
        json!({"should": conditions.collect::<Vec<_>>()})
    };
    match kind {
        MetadataKind::Integer | MetadataKind::Text => {
            let values: Vec<_> = values.iter().map(plain).collect();
            json!({"key": key, "match": {"any": values}})
        }
        MetadataKind::Bool => each(|key, value| json!({"key": key, "match": {"value": value}})),
        // It matches no other numbers by their values.
        MetadataKind::Float => each(|key, value| json!({"key": key, "range": {"gte": value, "lte": value}})),
    }
}
