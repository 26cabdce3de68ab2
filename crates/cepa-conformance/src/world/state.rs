//! Messages and the first state of a case.

use std::sync::Arc;

use cepa_core::{AgentState, ContentBlock, Msg, Role, TextBlock};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    case::{Case, MessageSpec},
    error::RunError,
};

fn read<T: DeserializeOwned>(what: &str, value: Value) -> Result<T, RunError> {
    serde_json::from_value(value).map_err(RunError::malformed(what))
}

pub(super) fn first(case: &Case) -> Result<AgentState, RunError> {
    let spec = &case.agent;
    let mut state = AgentState::with_session_id("s1");
    for spec in &spec.initial_context {
        state.context.push(Arc::new(message(spec)?));
    }
    if let Some(summary) = &spec.summary {
        state.summary = read("summary", summary.clone())?;
    }
    if let Some(permissions) = &spec.permission_context {
        state.permission_context = read("permission_context", permissions.clone())?;
    }
    for task in &spec.tasks {
        let mut fields = json!({"description": ""});
        for (key, value) in task {
            fields[key] = value.clone();
        }
        state.tasks_context.tasks.push(read("task", fields)?);
    }
    let active = case.tool_groups.iter().filter(|group| group.active);
    state.tool_context.activated_groups.extend(active.map(|group| group.name.clone()));
    Ok(state)
}

/// A message of a case. It is not checked: what an agent does with one that may not be is its own.
///
/// # Errors
/// A role or a block that cannot be read.
pub(crate) fn message(spec: &MessageSpec) -> Result<Msg, RunError> {
    let role: Role = read("role of a message", spec.role.as_str().into())?;
    let mut blocks: Vec<ContentBlock> = Vec::new();
    blocks.extend(spec.text.as_ref().map(|text| TextBlock::new(text).into()));
    for block in &spec.content {
        blocks.push(read("block of a message", written_out(block))?);
    }
    let message = Msg::new(spec.name.as_str(), role, blocks);
    Ok(match &spec.id {
        Some(id) => message.with_id(id.as_str()),
        None => message,
    })
}

/// A data block of a case has its bytes beside its name, not in a source.
fn written_out(block: &Value) -> Value {
    let mut block = block.clone();
    if block["type"] == "data" && block["source"].is_null() {
        let kind = if block["url"].is_string() { "url" } else { "base64" };
        let media_type = block["media_type"].take();
        let place = if kind == "url" { "url" } else { "data" };
        let content = block[place].take();
        block["source"] = json!({"type": kind, "media_type": media_type});
        block["source"][place] = content;
        if let Some(fields) = block.as_object_mut() {
            fields.retain(|key, _| !matches!(key.as_str(), "media_type" | "data" | "url"));
        }
    }
    block
}
