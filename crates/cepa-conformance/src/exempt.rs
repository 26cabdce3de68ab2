//! Cases that may differ, each with its reason, and in nothing but the parts it names.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// The list, which is part of the program.
const LIST: &str = include_str!("../exempt.toml");

/// Names of cases that may differ, in what, and why.
#[derive(Debug, Default)]
pub(crate) struct Exempt(BTreeMap<String, Exemption>);

/// Where a case may differ, and why.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exemption {
    name: String,
    pub(crate) why: String,
    /// Pointers (RFC 6901) into the list of calls: what is there is not compared.
    parts: Vec<String>,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    case: Vec<Exemption>,
}

impl Exempt {
    /// The list of this runner.
    ///
    /// # Errors
    /// The list cannot be read.
    pub(crate) fn read() -> Result<Self, toml::de::Error> {
        Self::parse(LIST)
    }

    fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let file: File = toml::from_str(text)?;
        Ok(Self(file.case.into_iter().map(|entry| (entry.name.clone(), entry)).collect()))
    }

    /// What a case may do otherwise; `None` for nothing.
    pub(crate) fn of(&self, name: &str) -> Option<&Exemption> {
        self.0.get(name)
    }
}

impl Exemption {
    /// What is expected, with what came out in the parts that may differ.
    pub(crate) fn apply(&self, expected: &[Value], got: &[Value]) -> Vec<Value> {
        let (mut calls, got) = (Value::Array(expected.to_vec()), Value::Array(got.to_vec()));
        for part in &self.parts {
            let Some(value) = got.pointer(part) else { continue };
            if let Some(place) = calls.pointer_mut(part) {
                *place = value.clone();
            } else if let Some((parent, key)) = part.rsplit_once('/') {
                match calls.pointer_mut(parent) {
                    // What is empty is left out of the case files.
                    Some(Value::Object(fields)) => _ = fields.insert(key.to_owned(), value.clone()),
                    Some(Value::Array(items)) if key == items.len().to_string() => items.push(value.clone()),
                    _ => {}
                }
            }
        }
        match calls {
            Value::Array(calls) => calls,
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_list_can_be_read_and_is_short() {
        assert!(Exempt::read().unwrap().0.len() <= 5);
    }

    #[test]
    fn an_entry_needs_its_reason_and_its_parts() {
        let list =
            Exempt::parse("[[case]]\nname = 'a/b'\nwhy = '154 instead of 151'\nparts = ['/0/x']").unwrap();
        assert_eq!(list.of("a/b").unwrap().why, "154 instead of 151");
        assert!(list.of("a/c").is_none());
        assert!(Exempt::parse("[[case]]\nname = 'a/b'\nparts = ['/0/x']").is_err());
        assert!(Exempt::parse("[[case]]\nname = 'a/b'\nwhy = 'because'").is_err());
    }

    #[test]
    fn only_the_named_part_may_differ() {
        let list = Exempt::parse("[[case]]\nname = 'a'\nwhy = 'w'\nparts = ['/0/x', '/0/new']").unwrap();
        let expected = [json!({"x": 1, "y": 2})];
        let got = [json!({"x": 9, "y": 8, "new": 7})];
        assert_eq!(list.of("a").unwrap().apply(&expected, &got), [json!({"x": 9, "y": 2, "new": 7})]);
    }

    #[test]
    fn one_more_at_the_end_of_a_list_may_be_there_and_no_two() {
        let list = Exempt::parse("[[case]]\nname = 'a'\nwhy = 'w'\nparts = ['/0/x/1']").unwrap();
        let got = [json!({"x": [1, 2, 3]})];
        assert_eq!(list.of("a").unwrap().apply(&[json!({"x": [0]})], &got), [json!({"x": [0, 2]})]);
    }
}
