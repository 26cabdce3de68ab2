//! Guards that judge the arguments of a call: what they share.
//!
//! A call is judged three times: when it is decided on (so that a person can be asked), right before it runs (a layer may
//! have changed it), and, where the tool was given to `protect`, at the tool itself.

use cepa_core::{
    Acting, ActingInput, CheckPermission, Cx, Error, Next, PermissionBehavior, PermissionDecision,
    PermissionMode, PermissionRequest, Result, Tool, ToolCallBlock, ToolCallInput, ToolCallState,
    ToolCalling, ToolResponse, ToolResultState,
};
use serde_json::{Map, Value};

/// What happens to a call that a guard objects to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum OnViolation {
    /// A person is asked. Where nobody can be asked any more, or the session is set to ask nobody, the call is refused.
    Ask,
    /// The call is refused; the model is told why.
    #[default]
    Deny,
    /// The reply fails with [`CallRefused`].
    Error,
}

/// A guard did not let a call pass, and that is an error: see [`OnViolation::Error`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a call of `{tool}` was refused: {reason}")]
#[non_exhaustive]
pub struct CallRefused {
    /// The tool.
    pub tool: String,
    /// Why, without the arguments' values.
    pub reason: String,
}

/// What a guard has against a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) action: OnViolation,
    /// For the model, the person and the log: without the value itself, which may be anything.
    pub(crate) reason: String,
}

impl Violation {
    fn refused(self, tool: &str) -> Error {
        Error::other(CallRefused { tool: tool.to_owned(), reason: self.reason })
    }
}

/// A guard over arguments.
pub(crate) trait Judge: Send + Sync {
    /// What the guard is called in logs.
    const NAME: &'static str;

    /// The worst that is to be said against this call. `tool` is `None` where a layer names one that the agent has not.
    fn judge(&self, name: &str, tool: Option<&dyn Tool>, input: &Map<String, Value>) -> Option<Violation>;
}

/// The calls that a person has looked at and allowed in this reply.
#[derive(Default)]
struct Confirmed(Vec<(String, Map<String, Value>)>);

/// The arguments as they were read when a call was decided on, with the text they were read from: models write
/// carelessly, and the core mends what it can.
#[derive(Default)]
struct Seen(Vec<(String, String, Map<String, Value>)>);

/// As many calls of one reply are remembered.
const REMEMBERED: usize = 256;

fn push<T>(list: &mut Vec<T>, item: T) {
    if list.len() >= REMEMBERED {
        list.remove(0);
    }
    list.push(item);
}

fn log(guard: &str, tool: &str, violation: &Violation, at: &str) {
    tracing::warn!(guard, tool, at, action = ?violation.action, reason = %violation.reason, "a call was objected to");
}

/// The guard at `on_check_permission`.
pub(crate) async fn check_permission<J: Judge>(
    judge: &J,
    cx: Cx<CheckPermission>,
    request: PermissionRequest,
    next: Next<CheckPermission>,
) -> Result<PermissionDecision> {
    let (call, tool, input) = (request.tool_call.clone(), request.tool.clone(), request.input.clone());
    let seen = (call.name.to_string(), call.input.clone(), input.clone());
    cx.scratch().update(|Seen(list)| push(list, seen));
    let decide = |input: &Map<String, Value>| judge.judge(&call.name, Some(&*tool), input);
    // Before anybody is asked: a call that is refused is nobody's question.
    match decide(&input) {
        Some(found) if found.action == OnViolation::Deny => {
            drop(next);
            log(J::NAME, &call.name, &found, "check_permission");
            return Ok(deny::<J>(found));
        }
        Some(found) if found.action == OnViolation::Error => {
            drop(next);
            log(J::NAME, &call.name, &found, "check_permission");
            return Err(found.refused(&call.name));
        }
        _ => {}
    }
    let mut decision = next.run(request).await?;
    if decision.behavior == PermissionBehavior::Deny {
        return Ok(decision);
    }
    let runs = decision.updated_input.as_ref().unwrap_or(&input);
    let Some(found) = decide(runs) else { return Ok(decision) };
    let confirmed = call.state == ToolCallState::Allowed && *runs == input;
    match found.action {
        OnViolation::Error => Err(found.refused(&call.name)),
        OnViolation::Deny => Ok(deny::<J>(found)),
        OnViolation::Ask if confirmed => {
            let looked_at = (call.name.to_string(), runs.clone());
            cx.scratch().update(|Confirmed(list)| push(list, looked_at));
            Ok(decision)
        }
        OnViolation::Ask => {
            log(J::NAME, &call.name, &found, "check_permission");
            if cx.state()?.permission_context.mode == PermissionMode::DontAsk {
                return Ok(deny::<J>(found));
            }
            decision.behavior = PermissionBehavior::Ask;
            decision.message = found.reason;
            decision.decision_reason = Some(J::NAME.to_owned());
            decision.suggested_rules = None;
            decision.bypass_immune = true;
            Ok(decision)
        }
    }
}

fn deny<J: Judge>(found: Violation) -> PermissionDecision {
    PermissionDecision::deny(found.reason).with_reason(J::NAME)
}

/// The guard at `on_acting`: what the layers outside of it made of the call.
pub(crate) async fn acting<J: Judge>(
    judge: &J,
    cx: Cx<Acting>,
    input: ActingInput,
    next: Next<Acting>,
) -> Result<ToolResponse> {
    let call = &input.tool_call;
    let Some(arguments) = arguments(&cx, call) else {
        return Ok(denied("A layer has put arguments into this call that are no JSON object.".to_owned()));
    };
    let tool = cx.toolkit().tool(&call.name).map(|tool| &**tool);
    let Some(found) = judge.judge(&call.name, tool, &arguments) else { return next.run(input).await };
    let confirmed = cx.scratch().update(|confirmed: &mut Confirmed| confirmed.has(&call.name, &arguments));
    match found.action {
        OnViolation::Ask if confirmed => next.run(input).await,
        OnViolation::Error => {
            log(J::NAME, &call.name, &found, "acting");
            Err(found.refused(&call.name))
        }
        OnViolation::Ask | OnViolation::Deny => {
            log(J::NAME, &call.name, &found, "acting");
            drop(next);
            Ok(denied(found.reason))
        }
    }
}

/// The arguments that will run, mended as the core mends them.
fn arguments(cx: &Cx<Acting>, call: &ToolCallBlock) -> Option<Map<String, Value>> {
    let seen = cx.scratch().update(|Seen(list)| {
        let same = list.iter().rev().find(|(name, text, _)| **name == *call.name && *text == call.input);
        same.map(|(_, _, input)| input.clone())
    });
    if call.input.trim().is_empty() {
        return Some(Map::new());
    }
    match (serde_json::from_str::<Map<String, Value>>(&call.input), seen) {
        // What was decided on may be a layer's copy of the arguments, and other than what runs.
        (Ok(raw), Some(seen)) => Some(if is_mended(&raw, &seen) { seen } else { raw }),
        // Changed since then, by a layer or by a decision: programs write JSON as it should be.
        (Ok(raw), None) => Some(raw),
        // Written carelessly, by the model.
        (Err(_), seen) => seen,
    }
}

/// Whether arguments are these, but for types that were mended: `"5"` to 5, 5 to `"5"`, a JSON text to what is in it.
fn is_mended(raw: &Map<String, Value>, seen: &Map<String, Value>) -> bool {
    raw.len() == seen.len()
        && raw.iter().all(|(key, raw)| seen.get(key).is_some_and(|seen| is_mended_value(raw, seen)))
}

fn is_mended_value(raw: &Value, seen: &Value) -> bool {
    match (raw, seen) {
        (Value::Object(raw), Value::Object(seen)) => is_mended(raw, seen),
        (Value::Array(raw), Value::Array(seen)) => {
            raw.len() == seen.len() && raw.iter().zip(seen).all(|(raw, seen)| is_mended_value(raw, seen))
        }
        (Value::Number(raw), Value::Number(seen)) => {
            raw == seen || (raw.is_f64() && raw.as_f64() == seen.as_f64())
        }
        (Value::String(raw), Value::String(seen)) => raw == seen,
        (Value::String(text), seen) => {
            let text = text.trim();
            let text = match text {
                "True" => "true",
                "False" => "false",
                text => text,
            };
            serde_json::from_str::<Value>(text).is_ok_and(|read| is_mended_value(&read, seen))
        }
        (Value::Number(_) | Value::Bool(_), Value::String(seen)) => {
            serde_json::from_str::<Value>(seen).is_ok_and(|read| read == *raw)
        }
        (raw, seen) => raw == seen,
    }
}

/// The guard at the tool itself: nothing can change the call behind it.
pub(crate) async fn tool_call<J: Judge>(
    judge: &J,
    cx: Cx<ToolCalling>,
    input: ToolCallInput,
    next: Next<ToolCalling>,
) -> Result<ToolResponse> {
    let name = cx.tool().name().to_owned();
    let Some(found) = judge.judge(&name, Some(cx.tool()), &input.input) else { return next.run(input).await };
    let confirmed = cx.scratch().is_some_and(|scratch| {
        scratch.update(|confirmed: &mut Confirmed| confirmed.has(&name, &input.input))
    });
    if found.action == OnViolation::Ask && confirmed {
        return next.run(input).await;
    }
    drop(next);
    log(J::NAME, &name, &found, "tool_call");
    match found.action {
        OnViolation::Error => Err(found.refused(&name)),
        OnViolation::Ask | OnViolation::Deny => Ok(denied(found.reason)),
    }
}

fn denied(reason: String) -> ToolResponse {
    ToolResponse::text(reason).with_state(ToolResultState::Denied)
}

impl Confirmed {
    fn has(&self, name: &str, input: &Map<String, Value>) -> bool {
        self.0.iter().any(|(tool, allowed)| tool == name && allowed == input)
    }
}
