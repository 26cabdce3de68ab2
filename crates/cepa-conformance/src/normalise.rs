//! Recordings in the words of the case files: made-up ids numbered, times left out, built-in texts as tags.

mod block;
mod ids;
mod span;

use serde_json::{Map, Value, json};

use self::ids::Ids;
use crate::tags::Tags;

/// Turns what was recorded of a case, as it came, into the form of the case files.
///
/// The calls are one recording: ids are numbered over all of them.
pub(crate) fn normalise(calls: Vec<Value>, tags: &Tags) -> Vec<Value> {
    let mut normaliser = Normaliser { ids: Ids::of_calls(&calls), tags };
    calls.into_iter().map(|call| normaliser.call(call)).collect()
}

struct Normaliser<'a> {
    ids: Ids,
    tags: &'a Tags,
}

impl Normaliser<'_> {
    fn call(&mut self, mut call: Value) -> Value {
        let Some(parts) = call.as_object_mut() else { return call };
        for (key, part) in parts.iter_mut() {
            match (key.as_str(), part) {
                ("events", Value::Array(events)) => events.iter_mut().for_each(|event| self.event(event)),
                ("final_messages", Value::Array(messages)) => {
                    messages.iter_mut().for_each(|message| self.message(message));
                }
                ("model_requests", Value::Array(requests)) => {
                    requests.iter_mut().for_each(|request| self.request(request));
                }
                ("rebuilt_from_events", message @ Value::Object(_)) => {
                    self.message(message);
                    keep(message, &["id", "content", "usage", "finished_reason", "error", "metadata"]);
                }
                ("state", state) => *state = self.state(state.take()),
                ("spans", Value::Array(spans)) => spans.iter_mut().for_each(|span| self.span(span)),
                ("trace" | "error", part) => self.values(part),
                ("backend", part) => {
                    self.values(part);
                    messages_as_in_requests(part);
                }
                _ => {}
            }
        }
        call
    }

    fn event(&mut self, event: &mut Value) {
        let Some(fields) = event.as_object_mut() else { return };
        fields.remove("id");
        fields.remove("created_at");
        remove_if_empty(fields, "metadata");
        for (key, value) in fields.iter_mut() {
            match key.as_str() {
                "reply_id" | "block_id" => self.id(value),
                "hint" => self.text_or_blocks(value),
                "tool_calls" | "execution_results" => self.blocks(value),
                "delta" | "text" => self.values(value),
                _ => {}
            }
        }
    }

    /// A message as events, the context and the end of a reply have it: what is not set is left out.
    fn message(&mut self, message: &mut Value) {
        let Some(fields) = message.as_object_mut() else { return };
        fields.remove("created_at");
        fields.remove("finished_at");
        remove_if_empty(fields, "metadata");
        fields.retain(|_, value| !value.is_null());
        if let Some(id) = fields.get_mut("id") {
            self.id(id);
        }
        if let Some(content) = fields.get_mut("content") {
            self.blocks(content);
        }
    }

    fn request(&mut self, request: &mut Value) {
        let Some(Value::Array(messages)) = request.get_mut("messages") else { return };
        for message in messages {
            self.message(message);
            keep(message, &["name", "role", "content"]);
        }
    }

    fn state(&mut self, mut state: Value) -> Value {
        let mut out = Map::new();
        for key in ["session_id", "summary", "context", "middle_context"] {
            out.insert(key.to_owned(), state[key].take());
        }
        if let Some(summary) = out.get_mut("summary") {
            self.text_or_blocks(summary);
        }
        if let Some(Value::Array(context)) = out.get_mut("context") {
            context.iter_mut().for_each(|message| self.message(message));
        }
        if let Some(store) = out.get_mut("middle_context") {
            self.values(store);
        }
        out.insert("reply_context".to_owned(), self.reply_context(&state["reply_context"]));
        let permissions = state["permission_context"].take();
        if !is_default_permissions(&permissions) {
            out.insert("permission_context".to_owned(), permissions);
        }
        let groups = state["tool_context"]["activated_groups"].take();
        if groups.as_array().is_some_and(|groups| !groups.is_empty()) {
            out.insert("activated_groups".to_owned(), groups);
        }
        if let Value::Array(tasks) = &state["tasks_context"]["tasks"]
            && !tasks.is_empty()
        {
            let tasks = tasks.iter().map(|task| json!({"subject": task["subject"], "state": task["state"]}));
            out.insert("tasks".to_owned(), tasks.collect());
        }
        Value::Object(out)
    }

    fn reply_context(&mut self, context: &Value) -> Value {
        let id = context["reply_id"].as_str().unwrap_or_default();
        json!({
            "reply_id": self.ids.reply(id).unwrap_or("<none>"),
            "cur_iter": context["cur_iter"],
            "has_structured_schema": !context["structured_schema"].is_null(),
            "structured_output": context["structured_output"],
        })
    }

    /// Any JSON: texts become tags, ids become names, also as keys.
    fn values(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => match self.ids.known(text) {
                Some(name) => *text = name.to_owned(),
                None => *text = self.tags.apply(text).into_owned(),
            },
            Value::Array(items) => items.iter_mut().for_each(|item| self.values(item)),
            // Only what the library itself wrote tells when it was made.
            Value::Object(fields) if fields.contains_key("created_at") => {
                if fields.contains_key("role") {
                    self.message(value);
                } else {
                    self.block(value);
                }
            }
            Value::Object(fields) => {
                let entries = std::mem::take(fields).into_iter().map(|(key, mut value)| {
                    self.values(&mut value);
                    let key = self.ids.known(&key).map_or(key.clone(), str::to_owned);
                    (key, value)
                });
                *fields = entries.collect();
            }
            _ => {}
        }
    }

    fn id(&mut self, id: &mut Value) {
        if let Value::String(text) = id {
            *text = self.ids.name(text);
        }
    }
}

/// Messages that a fake was given have the fields of those that a model is given.
fn messages_as_in_requests(calls: &mut Value) {
    let calls = calls.as_array_mut().into_iter().flatten();
    for message in calls.filter_map(|call| call.get_mut("messages")?.as_array_mut()).flatten() {
        keep(message, &["name", "role", "content"]);
    }
}

fn keep(object: &mut Value, keys: &[&str]) {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|key, _| keys.contains(&key.as_str()));
    }
}

fn remove_if_empty(fields: &mut Map<String, Value>, key: &str) {
    let is_empty = match fields.get(key) {
        Some(Value::Object(value)) => value.is_empty(),
        Some(Value::Array(value)) => value.is_empty(),
        _ => false,
    };
    if is_empty {
        fields.remove(key);
    }
}

fn is_default_permissions(context: &Value) -> bool {
    let is_empty = |key: &str| context[key].as_object().is_none_or(Map::is_empty);
    matches!(context["mode"].as_str(), None | Some("default"))
        && ["working_directories", "allow_rules", "deny_rules", "ask_rules"].into_iter().all(is_empty)
}

#[cfg(test)]
mod tests;
