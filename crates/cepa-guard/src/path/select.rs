//! Which arguments are paths.

use cepa_core::{GENERATE_STRUCTURED_OUTPUT, Tool};
use regex::Regex;
use serde_json::{Map, Value};

use super::Access;
use crate::argument::pointer::{MAX_VALUES, Pointer, inside};

/// Names that arguments with paths have, as words of the name: `path`, `filePath`, `output_dir`, `cwd`.
pub(super) const NAMES: &str = r"^(?i:(?:.*[_.-])?(?:path|paths|file|files|filename|filenames|filepath|filepaths|dir|dirs|directory|directories|folder|folders|cwd|workdir))$|[a-z0-9](?:Paths?|Files?|FileName|Dirs?|Directory|Folder)$";

/// Formats of JSON schemas that mean a path.
const FORMATS: [&str; 6] = ["path", "file-path", "file_path", "filepath", "directory-path", "directory"];

/// An argument that is a path by its name in one tool.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) tool: String,
    pub(super) pointer: Pointer,
    /// How it is used; as the call is, by default.
    pub(super) access: Option<Access>,
    /// Whether it is one at all.
    pub(super) is_path: bool,
}

/// Which arguments are paths.
#[derive(Clone, Debug)]
pub(super) struct Select {
    pub(super) named: Vec<Named>,
    pub(super) names: Option<Regex>,
    pub(super) formats: bool,
}

/// A path among the arguments.
#[derive(Debug)]
pub(super) struct Found<'v> {
    pub(super) place: String,
    pub(super) value: &'v Value,
    pub(super) access: Option<Access>,
}

impl Select {
    /// The paths of a call; `Err` if there is too much to look at.
    pub(super) fn paths<'v>(
        &self,
        name: &str,
        tool: Option<&dyn Tool>,
        input: &'v Map<String, Value>,
    ) -> Result<Vec<Found<'v>>, ()> {
        let (mut found, mut skipped) = (Vec::new(), Vec::new());
        for named in self.named.iter().filter(|named| named.tool == name) {
            for (place, value) in named.pointer.values_in(input)? {
                if named.is_path {
                    push(&mut found, place, value, named.access)?;
                } else {
                    skipped.push(place);
                }
            }
        }
        if name == GENERATE_STRUCTURED_OUTPUT {
            // An answer, of which nothing is opened.
            return Ok(found);
        }
        let by_name = found.len();
        let mut walk = Walk { select: self, found, left: MAX_VALUES };
        let schema = tool.map(Tool::input_schema).filter(|_| self.formats);
        walk.fields(input, schema, "")?;
        let mut found = walk.found;
        let named: Vec<_> = found.iter().take(by_name).map(|found| found.place.clone()).collect();
        let mut at = 0;
        found.retain(|found| {
            at += 1;
            at <= by_name || !(named.contains(&found.place) || is_under(&found.place, &skipped))
        });
        Ok(found)
    }
}

fn is_under(place: &str, places: &[String]) -> bool {
    places.iter().any(|skipped| {
        place.strip_prefix(skipped.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// Takes a path, or each of a list of them. Null is no path.
fn push<'v>(
    found: &mut Vec<Found<'v>>,
    place: String,
    value: &'v Value,
    access: Option<Access>,
) -> Result<(), ()> {
    if found.len() >= MAX_VALUES {
        return Err(());
    }
    match value {
        Value::Null => {}
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                push(found, format!("{place}/{at}"), item, access)?;
            }
        }
        value => found.push(Found { place, value, access }),
    }
    Ok(())
}

struct Walk<'s, 'v> {
    select: &'s Select,
    found: Vec<Found<'v>>,
    left: usize,
}

impl<'v> Walk<'_, 'v> {
    fn fields(
        &mut self,
        fields: &'v Map<String, Value>,
        schema: Option<&Value>,
        place: &str,
    ) -> Result<(), ()> {
        for (key, value) in fields {
            let schema = schema.and_then(|schema| schema.get("properties")?.get(key));
            let by_name = self.select.names.as_ref().is_some_and(|names| names.is_match(key));
            self.value(value, schema, inside(place, key), by_name)?;
        }
        Ok(())
    }

    fn value(
        &mut self,
        value: &'v Value,
        schema: Option<&Value>,
        place: String,
        by_name: bool,
    ) -> Result<(), ()> {
        self.left = self.left.checked_sub(1).ok_or(())?;
        let by_format = schema.is_some_and(says_path);
        match value {
            // By a name alone, only texts: `{"file": 3}` is no path.
            Value::String(_) if by_name || by_format => push(&mut self.found, place, value, None),
            Value::Array(items) => {
                let schema = schema.and_then(|schema| schema.get("items"));
                for (at, item) in items.iter().enumerate() {
                    self.value(item, schema, format!("{place}/{at}"), by_name || by_format)?;
                }
                Ok(())
            }
            Value::Object(fields) => self.fields(fields, schema, &place),
            _ => Ok(()),
        }
    }
}

/// Whether a schema, or one of its alternatives, has the format of a path.
fn says_path(schema: &Value) -> bool {
    let own = schema.get("format").and_then(Value::as_str).is_some_and(|format| FORMATS.contains(&format));
    own || ["anyOf", "oneOf", "allOf"]
        .iter()
        .any(|word| schema.get(word).and_then(Value::as_array).is_some_and(|list| list.iter().any(says_path)))
}
