//! The tool with which a model compresses its own context.

use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value, json};

use crate::{
    agent::scope::ReplyScope,
    chain::{BoxFuture, Compress, Outlet},
    error::{ErrorKind, Result},
    middleware::CompressInput,
    permission::{PermissionContext, PermissionDecision},
    texts::{self, fill},
    tool::{Tool, ToolCx, ToolError, ToolResponse},
};

/// The tool with which a model compresses its own context (AgentScope 2.0.11).
#[derive(Debug)]
pub(in crate::agent) struct CompressContextTool;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| json!({"type": "object", "properties": {}}));

impl Tool for CompressContextTool {
    fn name(&self) -> &str {
        "CompressContext"
    }

    fn description(&self) -> &str {
        texts::TOOL_DESCRIPTION_COMPRESS
    }

    fn input_schema(&self) -> &Value {
        &SCHEMA
    }

    fn is_concurrency_safe(&self) -> bool {
        false
    }

    fn check_permissions<'a>(
        &'a self,
        _input: &'a Map<String, Value>,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, PermissionDecision> {
        let decision = PermissionDecision::allow("an agent may always compress its own context");
        Box::pin(std::future::ready(decision))
    }

    fn call(
        self: Arc<Self>,
        _input: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
        Box::pin(async move {
            let result = match cx.scope().reply() {
                Some(reply) => reply.compress_early().await,
                None => Err(ErrorKind::ReplyOver.into()),
            };
            Ok(match result {
                Ok((before, after)) if before == after => {
                    let tokens = after.to_string();
                    ToolResponse::text(fill(texts::TOOL_CONTEXT_UNCHANGED, &[("tokens", &tokens)]))
                }
                Ok((before, after)) => {
                    let (before, after) = (before.to_string(), after.to_string());
                    let values = [("before", before.as_str()), ("after", after.as_str())];
                    ToolResponse::text(fill(texts::TOOL_CONTEXT_COMPRESSED, &values))
                }
                Err(error) => {
                    let values = [("error", error.to_string())];
                    let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
                    ToolResponse::error(fill(texts::ERROR_CONTEXT_COMPRESSION, &values))
                }
            })
        })
    }
}

impl ReplyScope {
    /// Compresses the context where it is worth it, though it is not over the threshold yet. Returns the tokens of a
    /// request before and after.
    async fn compress_early(self: &Arc<Self>) -> Result<(u64, u64)> {
        let prompt = match self.known_prompt() {
            Some(prompt) => prompt,
            None => {
                let prompt = self.build_prompt().await?;
                self.run_state().last_prompt = Some(prompt.clone());
                prompt
            }
        };
        let before = self.tokens_with(&prompt)?;
        let mut config = (*self.definition.context).clone();
        config.trigger_ratio -= config.context_buffer_ratio;
        let input = CompressInput { config: Some(Arc::new(config)), ..CompressInput::default() };
        self.chain::<Compress>(Outlet::unheard(None), input).running.await?;
        Ok((before, self.tokens_with(&prompt)?))
    }
}
