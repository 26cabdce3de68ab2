//! A JSON pointer that may have `*` for each item of an array and each field of an object.

use serde_json::{Map, Value};

/// As many values of one call are looked at by one rule or path: more are a violation by themselves.
pub(crate) const MAX_VALUES: usize = 10_000;

/// The parts of a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pointer(Vec<String>);

impl Pointer {
    /// Reads a pointer; `None` if it is none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self(Vec::new()));
        }
        let rest = text.strip_prefix('/')?;
        Some(Self(rest.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect()))
    }

    /// The values it leads to in the arguments, each with where it is; `Err` for more than [`MAX_VALUES`]. None for
    /// the empty pointer: the arguments themselves are no value.
    pub(crate) fn values_in<'v>(
        &self,
        input: &'v Map<String, Value>,
    ) -> Result<Vec<(String, &'v Value)>, ()> {
        let Some((first, rest)) = self.0.split_first() else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        step_into("", input, first, &mut found);
        for part in rest {
            let mut inner = Vec::new();
            for (place, value) in found {
                step(&place, value, part, &mut inner);
                if inner.len() > MAX_VALUES {
                    return Err(());
                }
            }
            found = inner;
        }
        Ok(found)
    }
}

fn step<'v>(place: &str, value: &'v Value, part: &str, found: &mut Vec<(String, &'v Value)>) {
    match value {
        Value::Object(fields) => step_into(place, fields, part, found),
        Value::Array(items) if part == "*" => {
            found.extend(items.iter().enumerate().map(|(at, value)| (format!("{place}/{at}"), value)));
        }
        Value::Array(items) => {
            if let Some(value) = part.parse::<usize>().ok().and_then(|at| items.get(at)) {
                found.push((format!("{place}/{part}"), value));
            }
        }
        _ => {}
    }
}

fn step_into<'v>(
    place: &str,
    fields: &'v Map<String, Value>,
    part: &str,
    found: &mut Vec<(String, &'v Value)>,
) {
    if part == "*" {
        found.extend(fields.iter().map(|(key, value)| (inside(place, key), value)));
    } else if let Some(value) = fields.get(part) {
        found.push((inside(place, part), value));
    }
}

/// The place of a field, such that no name of a field makes two places look the same.
pub(crate) fn inside(place: &str, key: &str) -> String {
    if key.contains(['/', '~']) {
        return format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"));
    }
    format!("{place}/{key}")
}
