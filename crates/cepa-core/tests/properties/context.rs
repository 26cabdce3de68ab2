//! What must hold of a context, and a form in which two of them can be compared.

use std::collections::{HashMap, HashSet};

use cepa_core::{AgentState, ContentBlock, Msg};
use serde_json::{Map, Value};

/// Whether each call has exactly one result, after it and in the same message, and each result its call.
pub(crate) fn check_pairs<'a>(messages: impl IntoIterator<Item = &'a Msg>) -> Result<(), String> {
    let mut all = HashSet::new();
    for msg in messages {
        let mut open = HashSet::new();
        for block in &msg.content {
            match block {
                ContentBlock::ToolCall(call) => {
                    if !all.insert(&call.id) {
                        return Err(format!("two calls have the id {}", call.id));
                    }
                    if call.id.is_empty() {
                        return Err("a call has no id".to_owned());
                    }
                    open.insert(&call.id);
                }
                ContentBlock::ToolResult(result) if !open.remove(&result.id) => {
                    return Err(format!(
                        "the result of {} is not after its call, or is the second",
                        result.id
                    ));
                }
                _ => {}
            }
        }
        if let Some(id) = open.into_iter().next() {
            return Err(format!("call {id} has no result in its message"));
        }
    }
    Ok(())
}

/// Whether the state can be saved, loaded, and is still what it was.
pub(crate) fn check_state(state: &AgentState) -> Result<(), String> {
    let json = serde_json::to_string(state).map_err(|error| format!("the state cannot be saved: {error}"))?;
    let loaded: AgentState =
        serde_json::from_str(&json).map_err(|error| format!("the state cannot be loaded: {error}"))?;
    let again = serde_json::to_string(&loaded).map_err(|error| error.to_string())?;
    if json != again {
        return Err(format!("the loaded state is another one:\n{json}\n{again}"));
    }
    let mut calls = HashSet::new();
    for msg in &state.context {
        msg.validate().map_err(|error| error.to_string())?;
        for call in msg.tool_calls() {
            if !calls.insert(&call.id) {
                return Err(format!("two calls of the state have the id {}", call.id));
            }
            let results = msg.tool_results().filter(|result| result.id == call.id).count();
            if results > 1 {
                return Err(format!("call {} has {results} results", call.id));
            }
        }
    }
    Ok(())
}

/// Makes things comparable: ids are numbered as they come, moments are left out, and results stand as their calls do.
#[derive(Default)]
pub(crate) struct Normal(HashMap<String, usize>);

impl Normal {
    pub(crate) fn of(value: &impl serde::Serialize) -> Value {
        Self::default().value(serde_json::to_value(value).unwrap())
    }

    fn value(&mut self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(mut items) => {
                sort_results(&mut items);
                items.into_iter().map(|item| self.value(item)).collect()
            }
            Value::Object(fields) => {
                let fields =
                    fields.into_iter().filter(|(key, _)| key != "created_at" && key != "finished_at");
                Value::Object(fields.map(|(key, value)| (key, self.value(value))).collect::<Map<_, _>>())
            }
            other => other,
        }
    }

    /// The text with its ids numbered: alone, and inside of messages.
    fn text(&mut self, text: String) -> String {
        if text.len() < 32 {
            return text;
        }
        let is_hex = |byte: &u8| byte.is_ascii_hexdigit();
        let words = text.split_inclusive(|c: char| !c.is_ascii_hexdigit());
        words
            .map(|word| match word.as_bytes().iter().take_while(|byte| is_hex(byte)).count() {
                32 => {
                    let next = self.0.len();
                    let number = *self.0.entry(word[..32].to_owned()).or_insert(next);
                    format!("id{number}{}", &word[32..])
                }
                _ => word.to_owned(),
            })
            .collect()
    }
}

/// Sorts neighbouring results as their calls: those of calls that ran side by side come as they come.
fn sort_results(blocks: &mut [Value]) {
    let is_result = |block: &Value| block["type"] == "tool_result";
    let calls: Vec<Value> =
        blocks.iter().filter(|block| block["type"] == "tool_call").map(|call| call["id"].clone()).collect();
    for run in blocks.chunk_by_mut(|one, other| is_result(one) && is_result(other)) {
        run.sort_by_key(|result| calls.iter().position(|id| *id == result["id"]));
    }
}
