//! [`Sql`]: a statement with its values.

use tokio_postgres::types::{ToSql, Type};

use super::plain::plain;
use crate::{
    Filter, MetadataKind, MetadataValue,
    remote::{Comparison, Test, tag},
};

/// A statement as it grows. What is not this crate's own words is a value, never text of the statement.
pub(super) struct Sql {
    pub(super) text: String,
    values: Vec<(Box<dyn ToSql + Send + Sync>, Type)>,
}

impl Sql {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), values: Vec::new() }
    }

    pub(super) fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    pub(super) fn value(&mut self, value: impl ToSql + Send + Sync + 'static, of: Type) -> &mut Self {
        self.values.push((Box::new(value), of));
        self.text.push_str(&format!("${}", self.values.len()));
        self
    }

    pub(super) fn values(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        self.values.iter().map(|(value, of)| (&**value as &(dyn ToSql + Sync), of.clone())).collect()
    }

    /// What the filter asks for, after this word.
    pub(super) fn filtered(&mut self, word: &str, filter: Option<&Filter>) -> &mut Self {
        if let Some(filter) = filter {
            self.push(word);
            self.test(&Test::of(filter));
        }
        self
    }

    fn test(&mut self, test: &Test) {
        match test {
            Test::Always => _ = self.push("true"),
            Test::Never => _ = self.push("false"),
            Test::All(tests) => self.joined(" AND ", tests),
            Test::Any(tests) => self.joined(" OR ", tests),
            Test::Has { kind, field, there } => {
                let (not, of) = (if *there { "" } else { "NOT " }, tag(*kind));
                self.push(&format!("{not}coalesce(metadata -> '{of}' ? ")).value(plain(field), Type::TEXT);
                self.push(", false)");
            }
            Test::Compare { field, comparison, value } => {
                self.column(value.kind(), field);
                self.push(match comparison {
                    Comparison::Less => " < ",
                    Comparison::AtMost => " <= ",
                    Comparison::More => " > ",
                    Comparison::AtLeast => " >= ",
                });
                match value {
                    MetadataValue::Bool(value) => self.value(*value, Type::BOOL),
                    MetadataValue::Integer(value) => self.value(*value, Type::INT8),
                    MetadataValue::Float(value) => self.value(*value, Type::FLOAT8),
                    MetadataValue::Text(value) => self.value(plain(value), Type::TEXT),
                };
            }
            Test::Among { field, values, among } => self.among(field, values, *among),
        }
    }

    fn joined(&mut self, word: &str, tests: &[Test]) {
        for (index, test) in tests.iter().enumerate() {
            self.push(if index == 0 { "(" } else { word });
            self.test(test);
        }
        self.push(")");
    }

    fn among(&mut self, field: &str, values: &[MetadataValue], among: bool) {
        let kind = values.first().map_or(MetadataKind::Text, MetadataValue::kind);
        self.column(kind, field);
        self.push(if among { " = ANY(" } else { " <> ALL(" });
        match kind {
            MetadataKind::Bool => {
                let values = values.iter().filter_map(|value| match value {
                    MetadataValue::Bool(value) => Some(*value),
                    _ => None,
                });
                self.value(values.collect::<Vec<_>>(), Type::BOOL_ARRAY)
            }
            MetadataKind::Integer => {
                let values = values.iter().filter_map(|value| match value {
                    MetadataValue::Integer(value) => Some(*value),
                    _ => None,
                });
                self.value(values.collect::<Vec<_>>(), Type::INT8_ARRAY)
            }
            MetadataKind::Float => {
                let values = values.iter().filter_map(MetadataValue::as_f64);
                self.value(values.collect::<Vec<_>>(), Type::FLOAT8_ARRAY)
            }
            MetadataKind::Text => {
                let values = values.iter().filter_map(MetadataValue::as_str).map(plain);
                self.value(values.collect::<Vec<_>>(), Type::TEXT_ARRAY)
            }
        };
        self.push(")");
    }

    /// The values of a field, as its index has them.
    fn column(&mut self, kind: MetadataKind, field: &str) {
        let (before, after) = column(kind);
        self.push(before).value(plain(field), Type::TEXT).push(after);
    }
}

/// What stands before and after a field's name where its values are compared.
pub(super) fn column(kind: MetadataKind) -> (&'static str, &'static str) {
    match kind {
        MetadataKind::Bool => ("((metadata -> 'bool' ->> ", ")::boolean)"),
        MetadataKind::Integer => ("((metadata -> 'integer' ->> ", ")::bigint)"),
        MetadataKind::Float => ("((metadata -> 'float' ->> ", ")::float8)"),
        // Byte by byte, whatever the order of the database is.
        MetadataKind::Text => ("((metadata -> 'text' ->> ", ") COLLATE \"C\")"),
    }
}
