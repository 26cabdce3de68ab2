//! An event as one line of text: what can be expected of it, and what a failed expectation shows.

use std::fmt::{self, Write};

use serde_json::{Map, Value};

use crate::event::AgentEvent;

/// An event's type and fields, as they are in its JSON.
#[derive(Debug)]
pub(super) struct EventLine {
    pub(super) event_type: &'static str,
    fields: Map<String, Value>,
}

impl EventLine {
    pub(super) fn of(event: &AgentEvent) -> Self {
        let fields = match serde_json::to_value(event) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        Self { event_type: event.event_type(), fields }
    }

    /// The field at this path (`error.type`).
    pub(super) fn field(&self, path: &str) -> Option<&Value> {
        let mut names = path.split('.');
        let first = self.fields.get(names.next()?)?;
        names.try_fold(first, |value, name| value.get(name))
    }
}

/// The field that a bare value in an expectation means.
pub(super) fn main_field(event_type: &str) -> Option<&'static str> {
    Some(match event_type {
        "REPLY_START" | "CUSTOM" | "EXCEED_MAX_ITERS" => "name",
        "REPLY_END" | "MODEL_CALL_END" => "finished_reason",
        "MODEL_CALL_START" => "model_name",
        "TEXT_BLOCK_DELTA" | "THINKING_BLOCK_DELTA" | "TOOL_CALL_DELTA" | "TOOL_RESULT_TEXT_DELTA" => "delta",
        "DATA_BLOCK_START" | "DATA_BLOCK_DELTA" | "TOOL_RESULT_DATA_DELTA" => "media_type",
        "HINT_BLOCK" => "hint",
        "TOOL_CALL_START" | "TOOL_RESULT_START" => "tool_call_name",
        "TOOL_RESULT_END" => "state",
        _ => return None,
    })
}

/// The line, but for what differs from run to run or says nothing.
impl fmt::Display for EventLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.event_type)?;
        let main = main_field(self.event_type);
        if let Some(value) = main.and_then(|main| self.field(main)) {
            f.write_char(' ')?;
            write_value(f, value)?;
        }
        for (name, value) in &self.fields {
            if tells_something(name, value) && Some(name.as_str()) != main {
                write!(f, " {name}=")?;
                write_value(f, value)?;
            }
        }
        Ok(())
    }
}

fn tells_something(name: &str, value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Object(fields) => !fields.is_empty(),
        Value::String(id) if name.ends_with("_id") => !is_generated(id),
        _ => !matches!(name, "id" | "created_at" | "type"),
    }
}

fn is_generated(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A value as an expectation would write it: simple words without quotes.
pub(super) fn write_value(f: &mut fmt::Formatter<'_>, value: &Value) -> fmt::Result {
    match value.as_str() {
        Some(word) if is_word(word) => f.write_str(word),
        _ => write!(f, "{value}"),
    }
}

fn is_word(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
    !text.is_empty() && text.chars().all(plain)
}
