//! [`Metadata`]: what is known of a document or chunk, as named values of four kinds.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

/// What is known of a document or chunk, by name.
pub type Metadata = BTreeMap<String, MetadataValue>;

/// One value of [`Metadata`].
///
/// The kinds are those that every store can keep and compare. A list is several values of its own, or a document of
/// its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum MetadataValue {
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number. In a filter, not a number (`NaN`) equals nothing, as everywhere; no store keeps it, nor what is
    /// infinite.
    Float(f64),
    /// A text, compared byte by byte.
    Text(String),
}

/// The kind of a [`MetadataValue`]; what an index of a store is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetadataKind {
    /// Yes or no.
    Bool,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Float,
    /// Texts.
    Text,
}

impl MetadataValue {
    /// Its kind.
    pub fn kind(&self) -> MetadataKind {
        match self {
            Self::Bool(_) => MetadataKind::Bool,
            Self::Integer(_) => MetadataKind::Integer,
            Self::Float(_) => MetadataKind::Float,
            Self::Text(_) => MetadataKind::Text,
        }
    }

    /// The number, if it is one.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "as every store compares them")]
            Self::Integer(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            Self::Bool(_) | Self::Text(_) => None,
        }
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(value) => Some(value),
            _ => None,
        }
    }
}

/// A value that no store keeps, if there is one.
pub(crate) fn not_finite(metadata: &Metadata) -> Option<(&String, &MetadataValue)> {
    metadata.iter().find(|(_, value)| matches!(value, MetadataValue::Float(number) if !number.is_finite()))
}

impl fmt::Display for MetadataValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
            Self::Text(value) => value.fmt(f),
        }
    }
}

impl From<bool> for MetadataValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for MetadataValue {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<i32> for MetadataValue {
    fn from(value: i32) -> Self {
        Self::Integer(value.into())
    }
}

impl From<u32> for MetadataValue {
    fn from(value: u32) -> Self {
        Self::Integer(value.into())
    }
}

impl From<f64> for MetadataValue {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for MetadataValue {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for MetadataValue {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}
