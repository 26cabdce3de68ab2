//! [`Filter`]: which chunks may be found, by their metadata.

use std::cmp::Ordering;

use crate::{Metadata, MetadataValue};

/// Which chunks may be found, by their [`Metadata`]. It means the same in every store, or the store refuses it.
///
/// - Whole numbers and other numbers compare as numbers; values of different kinds are never equal and have no order.
/// - A chunk that lacks the field matches neither a comparison nor [`Ne`](Self::Ne): only
///   `Filter::not(Filter::exists(…))` finds it.
///
/// ```
/// use cepa_rag::{Filter, Metadata};
///
/// let filter = Filter::eq("team", "search") & Filter::ge("year", 2024);
/// let mut metadata = Metadata::new();
/// metadata.insert("team".into(), "search".into());
/// metadata.insert("year".into(), 2025.into());
/// assert!(filter.matches(&metadata));
/// assert!(!(!filter).matches(&metadata));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Filter {
    /// The field has this value.
    Eq(String, MetadataValue),
    /// The field is there and has another value.
    Ne(String, MetadataValue),
    /// The field has one of these values.
    In(String, Vec<MetadataValue>),
    /// The field is less than this.
    Lt(String, MetadataValue),
    /// The field is at most this.
    Le(String, MetadataValue),
    /// The field is greater than this.
    Gt(String, MetadataValue),
    /// The field is at least this.
    Ge(String, MetadataValue),
    /// The field is there.
    Exists(String),
    /// All of these hold. None of them: always.
    And(Vec<Filter>),
    /// One of these holds. None of them: never.
    Or(Vec<Filter>),
    /// This does not hold.
    Not(Box<Filter>),
}

impl Filter {
    /// The field has this value.
    pub fn eq(field: impl Into<String>, value: impl Into<MetadataValue>) -> Self {
        Self::Eq(field.into(), value.into())
    }

    /// The field is there and has another value.
    pub fn ne(field: impl Into<String>, value: impl Into<MetadataValue>) -> Self {
        Self::Ne(field.into(), value.into())
    }

    /// The field has one of these values.
    pub fn one_of<V: Into<MetadataValue>>(
        field: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        Self::In(field.into(), values.into_iter().map(Into::into).collect())
    }

    /// The field is less than this.
    pub fn lt(field: impl Into<String>, value: impl Into<MetadataValue>) -> Self {
        Self::Lt(field.into(), value.into())
    }

    /// The field is at most this.
    pub fn le(field: impl Into<String>, value: impl Into<MetadataValue>) -> Self {
        Self::Le(field.into(), value.into())
    }

    /// The field is greater than this.
    pub fn gt(field: impl Into<String>, value: impl Into<MetadataValue>) -> Self {
        Self::Gt(field.into(), value.into())
    }

    /// The field is at least this.
    pub fn ge(field: impl Into<String>, value: impl Into<MetadataValue>) -> Self {
        Self::Ge(field.into(), value.into())
    }

    /// The field is there.
    pub fn exists(field: impl Into<String>) -> Self {
        Self::Exists(field.into())
    }

    /// Whether a chunk with these metadata may be found.
    pub fn matches(&self, metadata: &Metadata) -> bool {
        let compares = |field: &String, value: &MetadataValue, fits: fn(Ordering) -> bool| {
            metadata.get(field).and_then(|found| order(found, value)).is_some_and(fits)
        };
        match self {
            Self::Eq(field, value) => compares(field, value, Ordering::is_eq),
            Self::Ne(field, value) => {
                metadata.get(field).is_some_and(|found| order(found, value) != Some(Ordering::Equal))
            }
            Self::In(field, values) => values.iter().any(|value| compares(field, value, Ordering::is_eq)),
            Self::Lt(field, value) => compares(field, value, Ordering::is_lt),
            Self::Le(field, value) => compares(field, value, Ordering::is_le),
            Self::Gt(field, value) => compares(field, value, Ordering::is_gt),
            Self::Ge(field, value) => compares(field, value, Ordering::is_ge),
            Self::Exists(field) => metadata.contains_key(field),
            Self::And(filters) => filters.iter().all(|filter| filter.matches(metadata)),
            Self::Or(filters) => filters.iter().any(|filter| filter.matches(metadata)),
            Self::Not(filter) => !filter.matches(metadata),
        }
    }
}

fn order(one: &MetadataValue, other: &MetadataValue) -> Option<Ordering> {
    match (one, other) {
        (MetadataValue::Bool(one), MetadataValue::Bool(other)) => Some(one.cmp(other)),
        (MetadataValue::Text(one), MetadataValue::Text(other)) => Some(one.cmp(other)),
        (MetadataValue::Integer(one), MetadataValue::Integer(other)) => Some(one.cmp(other)),
        (one, other) => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

impl std::ops::BitAnd for Filter {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        match self {
            Self::And(mut filters) => {
                filters.push(other);
                Self::And(filters)
            }
            filter => Self::And(vec![filter, other]),
        }
    }
}

impl std::ops::BitOr for Filter {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        match self {
            Self::Or(mut filters) => {
                filters.push(other);
                Self::Or(filters)
            }
            filter => Self::Or(vec![filter, other]),
        }
    }
}

impl std::ops::Not for Filter {
    type Output = Self;

    fn not(self) -> Self {
        Self::Not(Box::new(self))
    }
}
