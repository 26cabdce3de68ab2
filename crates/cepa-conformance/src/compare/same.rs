//! Whether two values are the same.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{Difference, Outcome};

/// Compares values, over a whole case.
///
/// Numbered names of made-up ids (`m1`, `b1`) count by equality only: which id has which number is not compared, but
/// one id stands for one id throughout.
#[derive(Debug, Default)]
pub(super) struct Same {
    got_of: BTreeMap<String, String>,
    expected_of: BTreeMap<String, String>,
}

impl Same {
    /// Compares two lists, item by item.
    pub(super) fn lists(&mut self, path: &str, expected: &[Value], got: &[Value]) -> Outcome {
        for index in 0..expected.len().max(got.len()) {
            let path = format!("{path}[{index}]");
            match (expected.get(index), got.get(index)) {
                (Some(expected), Some(got)) => self.values(&path, expected, got)?,
                (expected, got) => return Err(Difference::new(path, expected, got)),
            }
        }
        Ok(())
    }

    /// Compares two values of any shape.
    pub(super) fn values(&mut self, path: &str, expected: &Value, got: &Value) -> Outcome {
        let same = match (expected, got) {
            _ if are_different_things(expected, got) => false,
            (Value::Object(expected), Value::Object(got)) => return self.objects(path, expected, got),
            (Value::Array(expected), Value::Array(got)) => return self.lists(path, expected, got),
            (Value::String(expected), Value::String(got)) => self.texts(path, expected, got),
            (Value::Number(expected), Value::Number(got)) => {
                expected == got || expected.as_f64() == got.as_f64()
            }
            (expected, got) => expected == got,
        };
        if same { Ok(()) } else { Err(Difference::new(path, Some(expected), Some(got))) }
    }

    fn objects(&mut self, path: &str, expected: &Map<String, Value>, got: &Map<String, Value>) -> Outcome {
        let keys: BTreeSet<_> = expected.keys().chain(got.keys()).collect();
        for key in keys {
            let path = format!("{path}.{key}");
            match (expected.get(key), got.get(key)) {
                (Some(expected), Some(got)) if key == "metadata" => self.at_least(&path, expected, got)?,
                (Some(expected), Some(got)) => self.values(&path, expected, got)?,
                (None, Some(_)) if is_welcome(key, expected) => {}
                (expected, got) => return Err(Difference::new(path, expected, got)),
            }
        }
        Ok(())
    }

    /// Compares two objects of which the second one may have more entries.
    pub(super) fn at_least(&mut self, path: &str, expected: &Value, got: &Value) -> Outcome {
        let (Value::Object(expected), Value::Object(got)) = (expected, got) else {
            return self.values(path, expected, got);
        };
        for (key, expected) in expected {
            let path = format!("{path}.{key}");
            match got.get(key) {
                Some(got) => self.values(&path, expected, got)?,
                None => return Err(Difference::new(path, Some(expected), None)),
            }
        }
        Ok(())
    }

    fn texts(&mut self, path: &str, expected: &str, got: &str) -> bool {
        let is_id = path.ends_with(".id") || path.ends_with("_id");
        if !(is_id && is_numbered(expected) && is_numbered(got)) {
            return expected == got || is_same_runtime_state(expected, got);
        }
        let known_got = self.got_of.entry(expected.to_owned()).or_insert_with(|| got.to_owned());
        let known_expected = self.expected_of.entry(got.to_owned()).or_insert_with(|| expected.to_owned());
        known_got == got && known_expected == expected
    }
}

/// Things of different kinds are shown whole: that one field of them differs says little.
fn are_different_things(expected: &Value, got: &Value) -> bool {
    expected.is_object()
        && got.is_object()
        && ["type", "core", "mw"].iter().any(|key| expected[key] != got[key])
}

/// What an implementation may say although the recording does not: more metadata, and the id of a text or thinking
/// block that its events told.
fn is_welcome(key: &str, expected: &Map<String, Value>) -> bool {
    let kind = expected.get("type").and_then(Value::as_str);
    match key {
        "metadata" => true,
        "id" => matches!(kind, Some("text" | "thinking")),
        _ => false,
    }
}

/// The values in the tag of a runtime state count, not what they are called.
fn is_same_runtime_state(expected: &str, got: &str) -> bool {
    let is_one = |text: &str| text.starts_with("<<hint:runtime_state ");
    is_one(expected) && is_one(got) && values_only(expected) == values_only(got)
}

/// `tasks(1,2)` for `tasks(pending=1,completed=2)`.
fn values_only(tag: &str) -> String {
    let parts = tag.split_inclusive(['(', ',', ')']);
    let mut inside = false;
    let values = parts.map(|part| {
        let value = if inside { part.split_once('=').map_or(part, |(_, value)| value) } else { part };
        inside = !part.ends_with(')') && (inside || part.ends_with('('));
        value
    });
    values.collect()
}

/// `m` or `b` and a number.
fn is_numbered(name: &str) -> bool {
    let digits = name.strip_prefix(['m', 'b']).unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
