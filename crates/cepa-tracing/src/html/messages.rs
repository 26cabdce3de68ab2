//! Messages, arguments and results on the page: JSON of the conventions, or of anything.

use cepa_core::serde_json::{self, Value};
use maud::{Markup, html};
use serde::Deserialize;

use super::text;
use crate::{names, view::Node};

/// So many messages are seen at once; the ones before on a click.
const SEEN: usize = 3;

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Message {
    role: String,
    name: Option<String>,
    parts: Vec<Value>,
}

/// Messages under a title.
pub(super) fn messages(title: &str, attribute: &str) -> Markup {
    let Ok(mut messages) = serde_json::from_str::<Vec<Message>>(attribute) else {
        return html! { section { h3 { (title) } (block(attribute)) } };
    };
    messages.retain(|message| !message.parts.iter().all(|part| said(part) == Some("")));
    let (earlier, seen) = messages.split_at(messages.len().saturating_sub(SEEN));
    html! {
        section {
            h3 { (title) }
            @if !earlier.is_empty() {
                details.more {
                    summary { (earlier.len()) " earlier" }
                    @for earlier in earlier { (message(earlier)) }
                }
            }
            @for seen in seen { (message(seen)) }
        }
    }
}

/// What was asked: the last text of a person.
pub(super) fn question(node: &Node) -> Option<String> {
    let messages: Vec<Message> = serde_json::from_str(node.fields.text(names::INPUT_MESSAGES)?).ok()?;
    let asked = messages.iter().rfind(|message| message.role == "user")?;
    asked.parts.iter().find_map(said).map(str::to_owned)
}

/// JSON of any form, or a text.
pub(super) fn any(attribute: &str) -> Markup {
    match serde_json::from_str(attribute) {
        Ok(value) => result(&value),
        Err(_) => block(attribute),
    }
}

/// JSON with its lines, or what it is instead.
pub(super) fn json(attribute: &str) -> Markup {
    match serde_json::from_str::<Value>(attribute) {
        Ok(value) => pretty(&value),
        Err(_) => block(attribute),
    }
}

fn message(message: &Message) -> Markup {
    let role = match message.role.as_str() {
        role @ ("system" | "user" | "assistant" | "tool") => role,
        _ => "unknown",
    };
    let name = message.name.as_deref().filter(|name| *name != message.role).map(source);
    html! {
        div.message.{ (role) } {
            p.role { bdi { (text(&message.role)) } @if let Some(name) = name { " " bdi.who { (text(&name)) } } }
            @for value in &message.parts { (part(value)) }
        }
    }
}

/// Who said it. What a layer has the user say is named by labels, as JSON.
fn source(name: &str) -> String {
    let labels: Vec<String> = match serde_json::from_str(name) {
        Ok(Value::Object(labels)) => ["label", "sublabel"]
            .iter()
            .filter_map(|key| Some(labels.get(*key)?.as_str()?.to_owned()))
            .collect(),
        _ => Vec::new(),
    };
    if labels.is_empty() { name.to_owned() } else { labels.join(", ") }
}

/// The text of a part, if it is one.
fn said(part: &Value) -> Option<&str> {
    part.get("content").or_else(|| part.get("text"))?.as_str()
}

fn part(value: &Value) -> Markup {
    let field = |name: &str| value.get(name).and_then(Value::as_str);
    let length = value.get("length").and_then(Value::as_u64);
    match (field("type").unwrap_or_default(), said(value), length) {
        ("text", Some(said), _) => block(said),
        ("reasoning", Some(said), _) => html! { div.thinking { p.label { "thinking" } (block(said)) } },
        ("tool_call", ..) => html! {
            p.label { "calls " bdi { (text(field("name").unwrap_or_default())) } }
            (value.get("arguments").map(result).unwrap_or_default())
        },
        ("tool_call_response", ..) => html! {
            p.label { "result" }
            (value.get("response").map(result).unwrap_or_default())
        },
        ("blob", Some(content), _) => html! {
            p.label { (text(field("media_type").unwrap_or("data"))) ", " (content.len()) " bytes as base64" }
        },
        (kind, _, Some(length)) => html! {
            p.label { (text(field("media_type").unwrap_or(kind))) ", " (length) " bytes, not captured" }
        },
        _ => pretty(value),
    }
}

/// A tool's result, or its arguments.
fn result(value: &Value) -> Markup {
    match value {
        Value::String(said) => block(said),
        Value::Array(parts) if parts.iter().all(|part| part.get("type").is_some()) => {
            html! { @for value in parts { (part(value)) } }
        }
        Value::Object(fields) => match (fields.get("content"), fields.get("length")) {
            (Some(content @ Value::Array(_)), _) => result(content),
            (None, Some(Value::Number(length))) if fields.len() == 1 => {
                html! { p.label { (length) " bytes, not captured" } }
            }
            _ => pretty(value),
        },
        _ => pretty(value),
    }
}

fn block(said: &str) -> Markup {
    html! { pre.said { (text(said)) } }
}

/// In one line where it fits.
fn pretty(value: &Value) -> Markup {
    let line = value.to_string();
    let lines = if line.len() > 72 { serde_json::to_string_pretty(value).unwrap_or(line) } else { line };
    html! { pre.json { (text(&lines)) } }
}
