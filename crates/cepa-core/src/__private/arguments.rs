//! From the model's arguments to those of the function.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::{
    schema::{is_struct, schema_of},
    tool::ToolError,
};

/// The arguments of one tool: their schema, and how they are read.
pub struct Arguments<T> {
    schema: Value,
    read: Read<T>,
}

type Read<T> = Box<dyn Fn(Map<String, Value>) -> Result<T, ToolError> + Send + Sync>;

impl Arguments<()> {
    /// Of a tool that takes none. What the model gives all the same is not looked at.
    pub fn none() -> Self {
        Self { schema: json!({"type": "object", "properties": {}}), read: Box::new(|_| Ok(())) }
    }
}

impl<T: DeserializeOwned + JsonSchema> Arguments<T> {
    /// The fields of `T` are the arguments.
    pub fn fields() -> Self
    where
        T: 'static,
    {
        Self { schema: schema_of::<T>(), read: Box::new(read::<T>) }
    }

    /// The fields of `T` are the arguments if it is a struct; else it is the one argument that `W` names.
    pub fn fields_or<W>(only: fn(W) -> T) -> Self
    where
        T: 'static,
        W: DeserializeOwned + JsonSchema + 'static,
    {
        let fields = Self::fields();
        if fields.schema.as_object().is_some_and(is_struct) {
            return fields;
        }
        Self { schema: schema_of::<W>(), read: Box::new(move |input| read::<W>(input).map(only)) }
    }
}

impl<T> Arguments<T> {
    /// The JSON schema, an object.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// The arguments of a call.
    ///
    /// # Errors
    /// What does not fit, by the name of the argument, for the model.
    pub fn read(&self, input: Map<String, Value>) -> Result<T, ToolError> {
        (self.read)(input)
    }
}

impl<T> std::fmt::Debug for Arguments<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Arguments").field("schema", &self.schema).finish_non_exhaustive()
    }
}

fn read<T: DeserializeOwned>(input: Map<String, Value>) -> Result<T, ToolError> {
    serde_path_to_error::deserialize(Value::Object(input)).map_err(|error| {
        let path = error.path();
        let message = match path.iter().next() {
            Some(_) => format!("argument `{path}`: {}", error.inner()),
            None => format!("arguments: {}", error.inner()), // names what is missing or unknown
        };
        ToolError::new(message)
    })
}
