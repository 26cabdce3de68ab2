//! What a value must be like.

use std::{fmt, sync::Arc};

use regex::Regex;
use serde_json::{Number, Value};

/// What a value must be like.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    OneOf(Vec<Value>),
    NoneOf(Vec<Value>),
    /// The anchored form, and what was given.
    Matches(Regex, String),
    MatchesNot(Regex),
    AtLeast(Bound),
    AtMost(Bound),
    MaxLen(usize),
    Schema(Arc<jsonschema::Validator>),
    Check(Predicate),
}

/// A function of the caller.
#[derive(Clone)]
pub(super) struct Predicate(pub(super) Arc<Check>);

type Check = dyn Fn(&Value) -> Result<(), String> + Send + Sync;

impl fmt::Debug for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Predicate")
    }
}

/// A finite number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound(f64);

impl Bound {
    pub(super) fn new(bound: f64) -> Option<Self> {
        bound.is_finite().then_some(Self(bound))
    }

    /// How a number stands to it. Whole numbers are compared exactly, also where a float could not hold them.
    fn compare(self, number: &Number) -> Option<std::cmp::Ordering> {
        let whole = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
        match whole {
            Some(whole) => {
                let floor = self.0.floor();
                Some(whole.cmp(&(floor as i128)).then(if self.0 > floor {
                    std::cmp::Ordering::Less
                } else {
                    std::cmp::Ordering::Equal
                }))
            }
            None => number.as_f64()?.partial_cmp(&self.0),
        }
    }
}

impl Condition {
    /// What is wrong with this value, if something is; the sentence goes on from the value's place.
    pub(super) fn broken_by(&self, value: &Value) -> Option<String> {
        match self {
            Self::OneOf(values) => (!values.iter().any(|one| same(one, value)))
                .then(|| format!("must be one of {}", list(values))),
            Self::NoneOf(values) => values
                .iter()
                .any(|one| same(one, value))
                .then(|| "has a value that is not allowed".to_owned()),
            Self::Matches(regex, pattern) => (!value.as_str().is_some_and(|text| regex.is_match(text)))
                .then(|| format!("must be a text of the form {pattern}")),
            Self::MatchesNot(regex) => value
                .as_str()
                .is_none_or(|text| regex.is_match(text))
                .then(|| format!("must be a text without {regex}")),
            Self::AtLeast(bound) => {
                let holds =
                    value.as_number().and_then(|number| bound.compare(number)).is_some_and(|is| is.is_ge());
                (!holds).then(|| format!("must be a number of at least {}", bound.0))
            }
            Self::AtMost(bound) => {
                let holds =
                    value.as_number().and_then(|number| bound.compare(number)).is_some_and(|is| is.is_le());
                (!holds).then(|| format!("must be a number of at most {}", bound.0))
            }
            Self::MaxLen(max) => {
                let len = match value {
                    Value::String(text) => text.chars().count(),
                    Value::Array(items) => items.len(),
                    Value::Object(fields) => fields.len(),
                    _ => return None,
                };
                (len > *max).then(|| format!("is {len} long, of at most {max}"))
            }
            Self::Schema(validator) => {
                let error = validator.iter_errors(value).next()?;
                let inside = error.instance_path().to_string();
                let keyword = error.masked();
                Some(format!("breaks the schema at `{inside}`: {keyword}"))
            }
            Self::Check(check) => (check.0)(value).err(),
        }
    }
}

/// Whether two values are equal, where `1` and `1.0` are.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || (one.is_f64() != other.is_f64() && one.as_f64() == other.as_f64())
        }
        _ => one == other,
    }
}

fn list(values: &[Value]) -> String {
    let shown: Vec<_> = values.iter().take(20).map(Value::to_string).collect();
    let more = if values.len() > 20 { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
