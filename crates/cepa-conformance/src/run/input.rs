//! Answers that a case gives to a reply that waits.

use cepa_core::{
    AgentState, ConfirmResult, ExternalExecutionResultEvent, Id, PermissionRule, ToolCallBlock,
    ToolResultBlock, UserConfirmResultEvent, UserInterruptEvent,
};
use serde_json::{Map, Value};

use crate::{
    case::{ConfirmSpec, RulesSpec},
    error::RunError,
};

/// A person's answers.
pub(super) fn confirm(
    state: &AgentState,
    results: &[ConfirmSpec],
    reply_id: Option<&str>,
) -> Result<UserConfirmResultEvent, RunError> {
    let results = results.iter().map(|spec| confirm_result(state, spec)).collect::<Result<Vec<_>, _>>()?;
    Ok(UserConfirmResultEvent::new(reply(state, reply_id), results))
}

fn confirm_result(state: &AgentState, spec: &ConfirmSpec) -> Result<ConfirmResult, RunError> {
    let mut call = asked(state, &spec.tool_call_id);
    let rules: Option<Vec<PermissionRule>> = match &spec.rules {
        None => None,
        Some(RulesSpec::Named(name)) if name == "suggested" => Some(call.suggested_rules.clone()),
        Some(RulesSpec::Named(name)) => return Err(RunError::not_supported(format!("rules `{name}`"))),
        Some(RulesSpec::Own(rules)) => {
            let rules = Value::Array(rules.clone());
            Some(serde_json::from_value(rules).map_err(RunError::malformed("rules of an answer"))?)
        }
    };
    if let Some(modify) = &spec.modify {
        if let Some(name) = &modify.name {
            call.name = name.as_str().into();
        }
        if let Some(input) = &modify.input {
            call.input.clone_from(input);
        }
    }
    let mut result = if spec.confirmed { ConfirmResult::confirm(call) } else { ConfirmResult::reject(call) };
    result.rules = rules;
    Ok(result)
}

/// The call of this id in the context; a made-up one where there is none, as a stale card would send.
fn asked(state: &AgentState, id: &str) -> ToolCallBlock {
    let id = Id::from(id);
    let known = state.context.iter().rev().find_map(|message| message.tool_call(&id));
    known.cloned().unwrap_or_else(|| ToolCallBlock::new(id, "f", "{}"))
}

/// Results from elsewhere; successful ones unless they say otherwise.
pub(super) fn external_result(
    state: &AgentState,
    results: &[Map<String, Value>],
    reply_id: Option<&str>,
) -> Result<ExternalExecutionResultEvent, RunError> {
    let results = results.iter().map(|fields| {
        let mut block = fields.clone();
        block.entry("type").or_insert_with(|| "tool_result".into());
        block.entry("state").or_insert_with(|| "success".into());
        serde_json::from_value::<ToolResultBlock>(block.into())
    });
    let results =
        results.collect::<Result<Vec<_>, _>>().map_err(RunError::malformed("result from elsewhere"))?;
    Ok(ExternalExecutionResultEvent::new(reply(state, reply_id), results))
}

/// The end of a reply that waits.
pub(super) fn interrupt(state: &AgentState, reply_id: Option<&str>) -> UserInterruptEvent {
    UserInterruptEvent::new(reply(state, reply_id))
}

fn reply(state: &AgentState, id: Option<&str>) -> Id {
    id.map_or_else(|| state.reply_id().clone(), Id::from)
}
