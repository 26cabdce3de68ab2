//! The middle of `on_check_permission`.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::scope::ReplyScope;
use crate::{
    chain::{BoxFuture, CheckPermission, Core, Cx},
    error::Result,
    message::ToolCallState,
    middleware::PermissionRequest,
    permission::{PermissionBehavior, PermissionDecision, engine::Call},
    texts,
    tool::Tool,
};

impl Core<CheckPermission> for ReplyScope {
    fn run(
        self: Arc<Self>,
        _cx: Cx<CheckPermission>,
        request: PermissionRequest,
    ) -> BoxFuture<'static, Result<PermissionDecision>> {
        Box::pin(async move {
            let PermissionRequest { tool_call, tool, input } = request;
            if tool_call.state != ToolCallState::Allowed {
                return self.decide(&*tool, &input).await;
            }
            // A person has allowed it. What was changed on that occasion is checked again, but nobody is asked twice.
            let edited = self
                .run_state()
                .edited
                .iter()
                .find(|(id, _)| *id == tool_call.id)
                .map(|(_, renamed)| *renamed);
            if let Some(renamed) = edited
                && let Some(denied) = self.denial(&*tool, &input, renamed).await?
            {
                return Ok(denied);
            }
            Ok(PermissionDecision::allow(texts::PERMISSION_CONFIRMED))
        })
    }
}

impl ReplyScope {
    async fn decide(&self, tool: &dyn Tool, input: &Map<String, Value>) -> Result<PermissionDecision> {
        // A copy, as the tool's own check may await.
        let context = self.state()?.permission_context.of_tool(tool.name());
        Ok(Call { tool, input, context: &context }.decide().await)
    }

    /// The refusal of a call that nobody is asked about any more, if it is refused: by a deny rule, or by the tool
    /// itself where it is another one than was asked about.
    pub(super) async fn denial(
        &self,
        tool: &dyn Tool,
        input: &Map<String, Value>,
        renamed: bool,
    ) -> Result<Option<PermissionDecision>> {
        let context = self.state()?.permission_context.of_tool(tool.name());
        let call = Call { tool, input, context: &context };
        if let Some(denied) = call.denied_by_rule() {
            return Ok(Some(denied));
        }
        if !renamed {
            return Ok(None);
        }
        let own = tool.check_permissions(input, &context).await;
        Ok(Some(own).filter(|own| own.behavior == PermissionBehavior::Deny))
    }
}
