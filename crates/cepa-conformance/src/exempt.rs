//! Cases that may differ, each with its arithmetic.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The list, which is part of the program.
const LIST: &str = include_str!("../exempt.toml");

/// Names of cases that may differ, and why.
#[derive(Debug, Default)]
pub(crate) struct Exempt(BTreeMap<String, String>);

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    case: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    why: String,
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
        Ok(Self(file.case.into_iter().map(|entry| (entry.name, entry.why)).collect()))
    }

    /// Why a case may differ; `None` if it may not.
    pub(crate) fn why(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_can_be_read_and_is_short() {
        assert!(Exempt::read().unwrap().0.len() <= 5);
    }

    #[test]
    fn an_entry_needs_its_arithmetic() {
        let list = Exempt::parse("[[case]]\nname = 'a/b'\nwhy = '154 tokens instead of 151'").unwrap();
        assert_eq!(list.why("a/b"), Some("154 tokens instead of 151"));
        assert_eq!(list.why("a/c"), None);
        assert!(Exempt::parse("[[case]]\nname = 'a/b'").is_err());
    }
}
