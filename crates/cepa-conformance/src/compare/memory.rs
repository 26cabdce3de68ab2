//! What is free where an agent has memory in files: Cepa brings tools of its own for them, and chooses memories beside the
//! reply, on threads.

use serde_json::Value;

use super::items;

/// How the layer's tools begin.
const TOOLS: &str = "memory_";

/// Whether the layer is there, as what came out tells.
pub(super) fn is_there(got: &[Value]) -> bool {
    let brings = |call: &Value| items(&call["middleware_tools"]).iter().any(is_own_tool);
    got.iter().any(brings)
}

/// Without the tools that AgentScope leaves to a workspace, and with the choosing of memories first, wherever it stood
/// among the steps of the reply. That it is made, by which model and with what, is compared.
pub(super) fn comparable(mut call: Value) -> Value {
    if let Some(tools) = call["middleware_tools"].as_array_mut() {
        tools.retain(|tool| !is_own_tool(tool));
    }
    for part in ["trace", "model_requests"] {
        let Some(steps) = call[part].as_array_mut() else { continue };
        for step in steps.iter_mut() {
            if let Some(tools) = step.get_mut("tools").and_then(Value::as_array_mut) {
                tools.retain(|tool| !is_own_tool(tool));
            }
        }
        steps.sort_by_key(|step| step["purpose"] != "structured");
    }
    call
}

fn is_own_tool(tool: &Value) -> bool {
    tool.as_str().is_some_and(|name| name.starts_with(TOOLS))
}
