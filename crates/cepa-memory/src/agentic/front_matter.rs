//! Front matter: the YAML at the top of a memory.

use std::collections::HashMap;

use serde::Serialize;
use serde_saphyr::granit_parser::{Event, Options, Parser, ScalarStyle};

use super::cut::split;

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
/// How far front matter is read: its end must be within these bytes.
pub(super) const MAX_BYTES: usize = 64 << 10;

impl FrontMatter {
    /// The front matter of a text. What is no YAML says nothing: a memory that somebody wrote is never an error.
    pub(super) fn read(text: &str) -> Self {
        let Some(yaml) = between_fences(text) else { return Self::default() };
        let Some(mut fields) = scalars(yaml) else { return Self::default() };
        let mut field = |key| fields.remove(key).filter(|text| !text.is_empty());
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

/// The scalars at the top of a YAML mapping, by their keys: as they are written, whatever type they would have, and on one
/// line each. `None` for what is no YAML, or no mapping.
fn scalars(yaml: &str) -> Option<HashMap<String, String>> {
    let mut options = Options::default();
    options.emit_comments = false;
    let (mut fields, mut anchors) = (HashMap::new(), HashMap::new());
    // How many mappings and lists are open; and the key whose value comes next in the outermost one.
    let (mut depth, mut key) = (0_usize, None);
    for event in Parser::new_from_str_with_options(yaml, options) {
        let node = match event.ok()?.0 {
            Event::Scalar(text, style, anchor, _tag) => {
                let is_null = style == ScalarStyle::Plain && matches!(&*text, "~" | "null" | "Null" | "NULL");
                let text = if is_null { String::new() } else { one_line(&text) };
                if anchor > 0 {
                    anchors.insert(anchor, text.clone());
                }
                Some(text)
            }
            Event::Alias(anchor) => anchors.get(&anchor).cloned(),
            Event::SequenceStart(..) if depth == 0 => return None,
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                depth += 1;
                continue;
            }
            Event::MappingEnd | Event::SequenceEnd => {
                depth -= 1;
                None
            }
            Event::DocumentEnd => break,
            _ => continue,
        };
        if depth == 1 {
            match key.take() {
                None => key = Some(node),
                Some(key) => fields.extend(key.zip(node)),
            }
        }
    }
    Some(fields)
}

/// A text with each run of white space as one space.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn between_fences(text: &str) -> Option<&str> {
    let (text, _) = split(text, MAX_BYTES);
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
    fn other_fields_of_any_kind_are_passed_over() {
        for other in [
            "x: .nan",
            "2024: x",
            "[a]: b",
            "? {a: b}\n: [c, {name: no}]",
            "~: x",
            "x: !foo bar",
            "x: !!binary no",
            "x: 123456789012345678901234567890123456789012",
            "list:\n- name: no\n- description: no",
            "x: y\nx: z",
            "# description: no",
        ] {
            for text in [
                format!("---\nname: &n a\n{other}\ndescription: *n\ntype: ~\n---\n"),
                format!("---\n{other}\nname: a\ndescription: 'a'\n---\n"),
            ] {
                let matter = FrontMatter::read(&text);
                let a = Some("a".to_owned());
                assert_eq!(matter, FrontMatter { name: a.clone(), description: a, kind: None }, "{text}");
            }
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
