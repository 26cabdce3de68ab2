//! JSON schemas of Rust types, as model servers take them.

use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::{Map, Value};

/// The schema of `T`: without references as far as it goes (some servers refuse them), without what says nothing
/// to a model (`$schema`, the type's name, the width of a number).
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let generator = settings.with_transform(RecursiveTransform(drop_number_format)).into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    if schema.get("title").and_then(Value::as_str) == Some(&T::schema_name()) {
        schema.remove("title");
    }
    let mut schema = Value::from(schema);
    if let Some(fields) = schema.as_object_mut().filter(|schema| is_struct(schema)) {
        fields.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    schema
}

/// `uint32` and the like are no formats of JSON Schema, and some servers refuse what they do not know.
fn drop_number_format(schema: &mut Schema) {
    let is_number = |name: &Value| name == "integer" || name == "number";
    let numeric = match schema.get("type") {
        Some(Value::Array(names)) => names.iter().any(is_number),
        Some(name) => is_number(name),
        None => false,
    };
    if numeric {
        schema.remove("format");
    }
}

/// Whether it describes a struct: an object whose fields are known, unlike a map.
pub(crate) fn is_struct(schema: &Map<String, Value>) -> bool {
    let open = schema.get("additionalProperties").is_some_and(|more| *more != false);
    schema.get("type").is_some_and(|name| name == "object") && (schema.contains_key("properties") || !open)
}
