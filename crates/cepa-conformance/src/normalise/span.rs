//! Spans in the words of the case files.

use serde_json::{Value, json};

use super::{Normaliser, ids::is_made_up};

/// Attributes that hold JSON as text.
const JSON: &[&str] = &[
    "agentscope.agent.external_execution_pending_tools",
    "agentscope.agent.hitl_pending_tools",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.response.finish_reasons",
    "gen_ai.tool.call.result",
    "gen_ai.tool.definitions",
];

impl Normaliser<'_> {
    pub(super) fn span(&mut self, span: &mut Value) {
        let Some(attributes) = span["attributes"].as_object_mut() else { return };
        for (name, value) in attributes {
            match name.as_str() {
                "gen_ai.agent.description" => *value = "<agent class description>".into(),
                "gen_ai.response.id" => *value = "<response id>".into(),
                "gen_ai.tool.definitions" => {
                    parse(value);
                    value["json"].as_array_mut().into_iter().flatten().for_each(mask_definition);
                }
                name => {
                    if JSON.contains(&name) {
                        parse(value);
                    }
                    self.content(value);
                }
            }
        }
    }

    /// What is said in a span: as elsewhere, but that ids and times are masked, not left out.
    fn content(&mut self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.content(item)),
            Value::Object(fields) => {
                if fields.contains_key("created_at") {
                    fields.insert("created_at".to_owned(), "<time>".into());
                    if fields.get("id").and_then(Value::as_str).is_some_and(is_made_up) {
                        fields.insert("id".to_owned(), "<id>".into());
                    }
                }
                fields.values_mut().for_each(|value| self.content(value));
            }
            value => self.values(value),
        }
    }
}

/// Text that is JSON. Text that is none stays, and is different from what was recorded.
fn parse(value: &mut Value) {
    if let Some(parsed) = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok()) {
        *value = json!({"json": parsed});
    }
}

fn mask_definition(tool: &mut Value) {
    tool["description"] = "<description>".into();
    tool["parameters"] = "<json schema>".into();
}
