//! What a tool's schema says of one place of its arguments.

use percent_encoding::percent_decode_str;
use serde_json::Value;

/// Formats of JSON schemas that mean a path.
const FORMATS: [&str; 6] = ["path", "file-path", "file_path", "filepath", "directory-path", "directory"];

/// Keywords whose schemas speak of the same place.
const SAME_PLACE: [&str; 6] = ["anyOf", "oneOf", "allOf", "if", "then", "else"];
/// And those whose values are such schemas.
const SAME_PLACE_BY_NAME: [&str; 2] = ["dependentSchemas", "dependencies"];

/// All schemas that may speak of one place: its own, those it refers to, and its alternatives. Which of them a value
/// meets is not asked: a guard looks at what may be a path.
#[derive(Debug)]
pub(super) struct Schemas<'s> {
    root: &'s Value,
    here: Vec<&'s Value>,
}

impl<'s> Schemas<'s> {
    /// Those of the arguments as a whole.
    pub(super) fn of(root: &'s Value) -> Self {
        Self::new(root, [root])
    }

    fn new(root: &'s Value, schemas: impl IntoIterator<Item = &'s Value>) -> Self {
        let mut here: Vec<&'s Value> = Vec::new();
        let mut open: Vec<_> = schemas.into_iter().collect();
        while let Some(schema) = open.pop() {
            // A schema may refer to itself.
            if here.iter().any(|seen| std::ptr::eq(*seen, schema)) {
                continue;
            }
            here.push(schema);
            let pointer = schema.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'));
            let pointer = pointer.map(|pointer| percent_decode_str(pointer).decode_utf8_lossy());
            open.extend(pointer.and_then(|pointer| root.pointer(&pointer)));
            let by_name = SAME_PLACE_BY_NAME.iter().filter_map(|word| schema.get(word)?.as_object());
            open.extend(by_name.flat_map(|schemas| schemas.values()));
            for word in SAME_PLACE {
                match schema.get(word) {
                    Some(Value::Array(schemas)) => open.extend(schemas),
                    Some(schema) => open.push(schema),
                    None => {}
                }
            }
        }
        Self { root, here }
    }

    /// Those of a field of the object that is here.
    pub(super) fn field(&self, key: &str) -> Self {
        let fields = self.here.iter().flat_map(|schema| {
            let named = schema.get("properties").and_then(|fields| fields.get(key));
            let patterns = schema.get("patternProperties").and_then(Value::as_object);
            let other = ["additionalProperties", "unevaluatedProperties"];
            named
                .into_iter()
                .chain(patterns.into_iter().flat_map(|patterns| patterns.values()))
                .chain(other.into_iter().filter_map(|word| schema.get(word)).filter(move |_| named.is_none()))
        });
        Self::new(self.root, fields)
    }

    /// Those of an item of the list that is here.
    pub(super) fn item(&self, at: usize) -> Self {
        let items = self.here.iter().flat_map(|schema| {
            let first = schema.get("prefixItems").and_then(|first| first.get(at));
            // Before `prefixItems`, a list of `items` said the same.
            let items = schema.get("items").and_then(|items| match items {
                Value::Array(first) => first.get(at).or_else(|| schema.get("additionalItems")),
                items => Some(items),
            });
            let other = ["contains", "unevaluatedItems"].into_iter().filter_map(|word| schema.get(word));
            first.into_iter().chain(items).chain(other)
        });
        Self::new(self.root, items)
    }

    /// Whether what is here is, or may be, a path.
    pub(super) fn say_path(&self) -> bool {
        let formats = self.here.iter().filter_map(|schema| schema.get("format").and_then(Value::as_str));
        formats.into_iter().any(|format| FORMATS.contains(&format))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_schema_refers_to_counts() {
        let schema = json!({
            "properties": {
                "edit": {"$ref": "#/$defs/Edit"},
                "edits": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/Edit"}}, {"type": "null"}]},
            },
            "$defs": {
                "Edit": {
                    "properties": {"target": {"$ref": "#/$defs/Place"}, "then": {"$ref": "#/$defs/Edit"}},
                },
                "Place": {"type": "string", "format": "path"},
            },
        });
        let schemas = Schemas::of(&schema);
        assert!(schemas.field("edit").field("target").say_path());
        assert!(schemas.field("edit").field("then").field("then").field("target").say_path());
        assert!(schemas.field("edits").item(3).field("target").say_path());
        assert!(!schemas.field("edit").say_path() && !schemas.field("other").say_path());
    }

    #[test]
    fn a_reference_is_a_uri() {
        let schema = json!({
            "properties": {"edit": {"$ref": "#/$defs/Edit%20of%3CT%3E~1x"}},
            "$defs": {"Edit of<T>/x": {"properties": {"to": {"format": "path"}}}},
            "dependentSchemas": {"edit": {"properties": {"from": {"format": "path"}}}},
        });
        let schemas = Schemas::of(&schema);
        assert!(schemas.field("edit").field("to").say_path());
        assert!(schemas.field("from").say_path());
    }

    #[test]
    fn maps_and_tuples_count() {
        let path = json!({"format": "path"});
        let schema = json!({
            "properties": {
                "map": {"properties": {"note": {"type": "string"}}, "additionalProperties": path},
                "by_pattern": {"patternProperties": {"^f_": path}},
                "pair": {"prefixItems": [{"type": "string"}, path]},
                "old_pair": {"items": [{"type": "string"}, path], "additionalItems": path},
            },
        });
        let schemas = Schemas::of(&schema);
        let map = schemas.field("map");
        assert!(map.field("anything").say_path() && !map.field("note").say_path());
        assert!(schemas.field("by_pattern").field("f_1").say_path());
        for name in ["pair", "old_pair"] {
            let pair = schemas.field(name);
            assert!(!pair.item(0).say_path() && pair.item(1).say_path(), "{name}");
        }
        assert!(schemas.field("old_pair").item(2).say_path());
    }

    #[test]
    fn circles_and_references_to_nothing_end() {
        let schema = json!({
            "properties": {"a": {"$ref": "#/properties/b"}, "b": {"anyOf": [{"$ref": "#/properties/a"}]}},
            "$ref": "#/nowhere",
            "anyOf": true,
        });
        assert!(!Schemas::of(&schema).field("a").field("c").item(0).say_path());
    }
}
