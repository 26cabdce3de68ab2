//! The tool with which an agent switches its groups of tools.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Tool, ToolCx, ToolError, ToolGroup, ToolResponse};
use crate::{
    chain::BoxFuture,
    permission::{PermissionContext, PermissionDecision},
    texts::{self, fill},
};

/// Its name, which is AgentScope's.
pub(super) const RESET_TOOLS: &str = "reset_tools";

/// Switches on the groups that are given as `true`, and all others off.
#[derive(Debug)]
pub(super) struct ResetTools {
    /// Name and instructions of each group.
    groups: Vec<(String, Option<String>)>,
    schema: Value,
}

impl ResetTools {
    pub(super) fn new(groups: &[ToolGroup]) -> Self {
        let properties: Map<String, Value> = groups
            .iter()
            .map(|group| {
                let schema = json!({"type": "boolean", "default": false, "description": group.description});
                (group.name.clone(), schema)
            })
            .collect();
        let schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
        let groups = groups.iter().map(|group| (group.name.clone(), group.instructions.clone())).collect();
        Self { groups, schema }
    }
}

impl Tool for ResetTools {
    fn name(&self) -> &str {
        RESET_TOOLS
    }

    fn description(&self) -> &str {
        texts::TOOL_DESCRIPTION_RESET_TOOLS
    }

    fn input_schema(&self) -> &Value {
        &self.schema
    }

    fn check_permissions<'a>(
        &'a self,
        _input: &'a Map<String, Value>,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, PermissionDecision> {
        Box::pin(std::future::ready(PermissionDecision::allow("switching tools is always allowed")))
    }

    fn call(
        self: Arc<Self>,
        input: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
        Box::pin(async move {
            let is_on = |name: &str| input.get(name).and_then(Value::as_bool).unwrap_or(false);
            let on: Vec<_> = self.groups.iter().filter(|(name, _)| is_on(name)).collect();
            let names: Vec<String> = on.iter().map(|(name, _)| name.clone()).collect();
            let text = if on.is_empty() {
                texts::TOOL_GROUPS_OFF.to_owned()
            } else {
                let instructions: String = on
                    .iter()
                    .filter_map(|(name, text)| {
                        Some(format!("\n<group name=\"{name}\">{}</group>", text.as_ref()?))
                    })
                    .collect();
                let values = [("groups", names.join(", ")), ("instructions", instructions)];
                let values: Vec<_> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
                fill(texts::TOOL_GROUPS_ON, &values)
            };
            cx.state()?.tool_context.activated_groups = names;
            Ok(ToolResponse::text(text))
        })
    }
}
