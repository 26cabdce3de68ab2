//! Front matter: the YAML at the top of a memory.

use std::collections::BTreeMap;

use cepa_core::serde_json::Value;
use serde::Serialize;

/// What a memory says of itself. Nothing of it need be there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct FrontMatter {
    /// Its title.
    pub(super) name: Option<String>,
    /// When it is worth reading.
    pub(super) description: Option<String>,
    /// `user`, `feedback`, `project`, `reference`, or another word.
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
}

const FENCE: &str = "---";

impl FrontMatter {
    /// The front matter of a text. What is no YAML says nothing: a memory that somebody wrote is never an error.
    pub(super) fn read(text: &str) -> Self {
        let Some(yaml) = between_fences(text) else { return Self::default() };
        let Ok(mut fields) = serde_saphyr::from_str::<BTreeMap<String, Value>>(yaml) else {
            return Self::default();
        };
        let mut field = |key| fields.remove(key).and_then(on_one_line);
        Self { name: field("name"), description: field("description"), kind: field("type") }
    }

    /// A memory with this front matter.
    ///
    /// # Errors
    /// It cannot be written as YAML.
    pub(super) fn write(&self, content: &str) -> Result<String, serde_saphyr::SerializeError> {
        let yaml = serde_saphyr::to_string(self)?;
        Ok(format!("{FENCE}\n{}\n{FENCE}\n\n{}\n", yaml.trim_end(), content.trim_end()))
    }
}

/// A scalar as a text without line breaks; `None` where it is empty, or no scalar.
fn on_one_line(value: Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text,
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        _ => return None,
    };
    let line = one_line(&text);
    (!line.is_empty()).then_some(line)
}

/// A text with each run of white space as one space.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn between_fences(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
    let (first, body) = text.split_once('\n')?;
    if first.trim_end() != FENCE {
        return None;
    }
    let mut end = 0;
    for line in body.split_inclusive('\n') {
        if line.trim_end() == FENCE {
            return Some(&body[..end]);
        }
        end += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let nasty = [
            "plain",
            "a: b",
            "- x",
            "#no comment",
            "\"quoted\" 'twice'",
            "{braces} [and] more",
            "yes",
            "12",
            "---",
            "ü 🦀",
            "a\\b",
        ];
        for text in nasty {
            let written = FrontMatter {
                name: Some(text.to_owned()),
                description: Some(text.to_owned()),
                kind: Some("user".to_owned()),
            };
            let file = written.write("---\nbody: 1\n---\n").unwrap();
            assert_eq!(FrontMatter::read(&file), written, "{file}");
            assert!(file.ends_with("\n\n---\nbody: 1\n---\n"), "{file}");
        }
    }

    #[test]
    fn what_is_no_front_matter_says_nothing() {
        for text in [
            "",
            "---",
            "---\n",
            "---\nname: a",
            "name: a\n---\n",
            "----\nname: a\n---\n",
            "---\n- a\n---\n",
            "---\n\t: {\n---\n",
        ] {
            assert_eq!(FrontMatter::read(text), FrontMatter::default(), "{text:?}");
        }
    }
}
