//! The tool that takes a reply's structured output.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::scope::ReplyScope;
use crate::{
    chain::BoxFuture,
    error::{ErrorKind, Result},
    permission::{PermissionContext, PermissionDecision},
    texts::{self, fill},
    tool::{Entry, Tool, ToolCx, ToolError, ToolResponse, Validator},
};

/// The name of the tool that takes a reply's structured output, which is AgentScope's.
pub const GENERATE_STRUCTURED_OUTPUT: &str = "GenerateStructuredOutput";

/// Takes the structured output of one reply.
#[derive(Debug)]
struct GenerateStructuredOutput {
    schema: Value,
    validator: Validator,
}

impl ReplyScope {
    /// Offers the tool for the structured output that this reply owes, new or from before a pause.
    pub(super) fn offer_structured_tool(&self) -> Result<()> {
        let schema = self.state()?.reply_context.structured_schema.clone();
        let entry = schema.map(entry).transpose()?;
        self.run_state().structured = entry;
        Ok(())
    }
}

fn entry(schema: Value) -> Result<Arc<Entry>> {
    let invalid = |reason| ErrorKind::SchemaViolation {
        what: "the schema of the structured output".to_owned(),
        reason,
    };
    // It becomes the arguments of a call, which are an object.
    match schema.as_object().map(|schema| schema.get("type")) {
        None => return Err(invalid("it is not a JSON object".to_owned()).into()),
        Some(Some(named)) if named != "object" => {
            let reason = format!("it describes {named}, and must describe an object: put it into a struct");
            return Err(invalid(reason).into());
        }
        Some(_) => {}
    }
    let validator = Validator::new(&schema).map_err(invalid)?;
    let tool = Arc::new(GenerateStructuredOutput { schema, validator });
    let entry = Entry::new(tool, None, &[]).map_err(|error| invalid(error.to_string()))?;
    Ok(Arc::new(entry))
}

impl Tool for GenerateStructuredOutput {
    fn name(&self) -> &str {
        GENERATE_STRUCTURED_OUTPUT
    }

    fn description(&self) -> &str {
        texts::TOOL_DESCRIPTION_STRUCTURED_OUTPUT
    }

    fn input_schema(&self) -> &Value {
        &self.schema
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn check_permissions<'a>(
        &'a self,
        _input: &'a Map<String, Value>,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, PermissionDecision> {
        Box::pin(std::future::ready(PermissionDecision::allow("handing over the output is always allowed")))
    }

    fn call(
        self: Arc<Self>,
        input: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
        Box::pin(async move {
            let mut state = cx.state()?;
            if state.reply_context.structured_schema.is_none() {
                return Ok(ToolResponse::text(texts::TOOL_STRUCTURED_OUTPUT_NOT_REQUIRED));
            }
            let mut output = Value::Object(input);
            fill_defaults(&mut output, &self.schema);
            if let Some((reason, path)) = self.validator.violation(&output) {
                let message = format!("{path}: {reason}");
                return Ok(ToolResponse::error(fill(
                    texts::ERROR_STRUCTURED_OUTPUT_INVALID,
                    &[("message", &message)],
                )));
            }
            if let Value::Object(output) = output {
                state.reply_context.structured_output = Some(output);
            }
            Ok(ToolResponse::text(texts::TOOL_STRUCTURED_OUTPUT_OK))
        })
    }
}

/// Fills in the defaults that a schema declares, where the value says nothing.
fn fill_defaults(value: &mut Value, schema: &Value) {
    let (Value::Object(fields), Some(properties)) =
        (&mut *value, schema.get("properties").and_then(Value::as_object))
    else {
        if let (Value::Array(items), Some(schema)) = (value, schema.get("items")) {
            items.iter_mut().for_each(|item| fill_defaults(item, schema));
        }
        return;
    };
    for (key, schema) in properties {
        if let Some(default) = schema.get("default") {
            fields.entry(key.clone()).or_insert_with(|| default.clone());
        }
        if let Some(field) = fields.get_mut(key) {
            fill_defaults(field, schema);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::fill_defaults;

    #[test]
    fn defaults_are_filled_in_at_every_depth() {
        let schema = json!({"properties": {
            "unit": {"default": "kg"},
            "inner": {"properties": {"n": {"default": 1}}},
            "list": {"items": {"properties": {"on": {"default": true}}}},
        }});
        let mut value = json!({"inner": {}, "list": [{}, {"on": false}]});
        fill_defaults(&mut value, &schema);
        assert_eq!(value, json!({"unit": "kg", "inner": {"n": 1}, "list": [{"on": true}, {"on": false}]}));
    }
}
