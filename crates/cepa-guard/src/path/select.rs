//! Which arguments are paths.

use cepa_core::{GENERATE_STRUCTURED_OUTPUT, Tool};
use regex::Regex;
use serde_json::{Map, Value};

use super::{Access, schema::Schemas};
use crate::argument::pointer::{MAX_VALUES, Pointer, inside};

/// Names that arguments with paths have, as words of the name: `path`, `filePath`, `output_dir`, `cwd`.
pub(super) const NAMES: &str = r"^(?i:(?:.*[_.-])?(?:path|paths|file|files|filename|filenames|filepath|filepaths|dir|dirs|directory|directories|folder|folders|cwd|workdir))$|[a-z0-9](?:Paths?|Files?|FileName|Dirs?|Directory|Folder)$";

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
        let schemas = tool.map(Tool::input_schema).filter(|_| self.formats).map(Schemas::of);
        walk.fields(input, schemas.as_ref(), "")?;
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
        schemas: Option<&Schemas<'_>>,
        place: &str,
    ) -> Result<(), ()> {
        for (key, value) in fields {
            let schemas = schemas.map(|schemas| schemas.field(key));
            let by_name = self.select.names.as_ref().is_some_and(|names| names.is_match(key));
            self.value(value, schemas.as_ref(), inside(place, key), by_name)?;
        }
        Ok(())
    }

    fn value(
        &mut self,
        value: &'v Value,
        schemas: Option<&Schemas<'_>>,
        place: String,
        by_name: bool,
    ) -> Result<(), ()> {
        self.left = self.left.checked_sub(1).ok_or(())?;
        let by_format = schemas.is_some_and(Schemas::say_path);
        match value {
            // By a name alone, only texts: `{"file": 3}` is no path.
            Value::String(_) if by_name || by_format => push(&mut self.found, place, value, None),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    let schemas = schemas.map(|schemas| schemas.item(at));
                    self.value(item, schemas.as_ref(), format!("{place}/{at}"), by_name || by_format)?;
                }
                Ok(())
            }
            Value::Object(fields) => self.fields(fields, schemas, &place),
            _ => Ok(()),
        }
    }
}
