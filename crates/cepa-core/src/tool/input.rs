//! The arguments of a call: read, mended where a model wrote them carelessly, and checked against the schema.

use serde_json::{Map, Number, Value};

use super::lenient::{self, Lenient};
use crate::texts::{self, fill};

/// A tool's schema, ready to check arguments with.
#[derive(Debug)]
pub(crate) struct Validator(jsonschema::Validator);

/// Arguments that cannot be used; says why, to the model.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct InputError(String);

impl InputError {
    pub(crate) fn into_message(self) -> String {
        self.0
    }
}

/// How much of unreadable arguments an error shows.
const SHOWN: usize = 120;

impl Validator {
    /// # Errors
    /// What is wrong with the schema.
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        jsonschema::validator_for(schema).map(Self).map_err(|error| error.to_string())
    }

    /// The first violation as `message (at path)` parts, if there is one.
    pub(crate) fn violation(&self, value: &Value) -> Option<(String, String)> {
        let error = self.0.iter_errors(value).next()?;
        Some((error.to_string(), json_path(error.instance_path().as_str())))
    }

    pub(crate) fn is_valid(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }

    /// Reads the arguments of a call of the tool `name`. Types that do not fit are mended where there is one way to.
    pub(crate) fn read(
        &self,
        name: &str,
        input: &str,
        schema: &Value,
    ) -> Result<Map<String, Value>, InputError> {
        let mut arguments = Value::Object(read_object(input)?);
        if !self.is_valid(&arguments) {
            let mut mended = arguments.clone();
            mend(&mut mended, schema);
            if let Some((message, path)) = self.violation(&mended) {
                let values = [("name", name), ("message", message.as_str()), ("path", path.as_str())];
                return Err(InputError(fill(texts::ERROR_SCHEMA, &values)));
            }
            arguments = mended;
        }
        match arguments {
            Value::Object(arguments) => Ok(arguments),
            _ => Ok(Map::new()),
        }
    }
}

/// Reads an object, strictly if that works, else leniently. Some servers send no arguments at all for a tool that
/// takes none.
pub(crate) fn read_object(input: &str) -> Result<Map<String, Value>, InputError> {
    if input.trim().is_empty() {
        return Ok(Map::new());
    }
    let error = match serde_json::from_str(input) {
        Ok(Value::Object(arguments)) => return Ok(arguments),
        Ok(other) => {
            return Err(InputError(fill(texts::ERROR_JSON_NOT_OBJECT, &[("got", type_name(&other))])));
        }
        Err(error) => error,
    };
    match lenient::read(input) {
        Lenient::Value(Value::Object(arguments)) => Ok(arguments),
        Lenient::NotANumber => Err(InputError(texts::ERROR_JSON_NAN.to_owned())),
        Lenient::Value(_) | Lenient::Nothing => {
            let shown: String = input.chars().take(SHOWN).collect();
            let message = error.to_string();
            Err(InputError(fill(texts::ERROR_JSON_DECODE, &[("message", &message), ("input", &shown)])))
        }
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// `/a/0/b` → `$.a[0].b`.
fn json_path(pointer: &str) -> String {
    let mut path = String::from("$");
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        if part.bytes().all(|byte| byte.is_ascii_digit()) {
            path.push_str(&format!("[{part}]"));
        } else {
            path.push('.');
            path.push_str(&part);
        }
    }
    path
}

/// Mends types by the schema: `"42"` to 42, 1 to `"1"`, `"true"` to true, a JSON text to the array or object in it.
fn mend(value: &mut Value, schema: &Value) {
    let kind = schema.get("type").and_then(Value::as_str);
    if let Some(mended) = kind.and_then(|kind| mended(value, kind)) {
        *value = mended;
    }
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                if let Some(schema) = schema.get("properties").and_then(|properties| properties.get(key)) {
                    mend(field, schema);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| mend(item, schema));
            }
        }
        _ => {}
    }
}

fn mended(value: &Value, kind: &str) -> Option<Value> {
    match (kind, value) {
        ("integer", Value::String(text)) => text.trim().parse::<i64>().ok().map(Value::from),
        ("integer", Value::Number(number)) => {
            let whole = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0)?;
            (whole.abs() < 9e15).then(|| Value::from(whole as i64))
        }
        ("number", Value::String(text)) => {
            let number = text.trim().parse().ok().and_then(Number::from_f64);
            text.trim().parse::<i64>().ok().map(Value::from).or(number.map(Value::Number))
        }
        ("boolean", Value::String(text)) => match text.trim() {
            "true" | "True" => Some(Value::Bool(true)),
            "false" | "False" => Some(Value::Bool(false)),
            _ => None,
        },
        ("string", Value::Number(_) | Value::Bool(_)) => Some(Value::String(value.to_string())),
        ("array", Value::String(text)) => serde_json::from_str(text).ok().filter(Value::is_array),
        ("object", Value::String(text)) => serde_json::from_str(text).ok().filter(Value::is_object),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn mends_types_only_where_the_schema_is_broken() {
        let schema = json!({"type": "object", "required": ["n"], "properties": {
            "n": {"type": "integer"}, "on": {"type": "boolean"}, "s": {"type": "string"},
            "list": {"type": "array", "items": {"type": "number"}},
        }});
        let validator = Validator::new(&schema).unwrap();
        let read =
            |input| validator.read("f", input, &schema).map(Value::Object).map_err(InputError::into_message);
        assert_eq!(
            read(r#"{"n": "42", "on": "True", "s": 7, "list": "[1, \"2.5\"]"}"#).unwrap(),
            json!({"n": 42, "on": true, "s": "7", "list": [1, 2.5]})
        );
        assert_eq!(read(r#"{"n": 4.0}"#).unwrap(), json!({"n": 4.0}));
        assert!(read(r#"{"n": "many"}"#).unwrap_err().ends_with("(at $.n)"));
        assert!(read("{}").unwrap_err().ends_with("(at $)"));
        assert!(read("").unwrap_err().contains("\"n\" is a required property"));
        assert!(read("[1]").unwrap_err().contains("array"));
        assert!(read(r#"{"n": NaN}"#).unwrap_err().contains("NaN"));
        assert!(read("call it").unwrap_err().contains("call it"));
    }
}
