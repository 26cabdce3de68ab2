//! Keeping the context short.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::scope::ReplyScope;
use crate::{
    chain::{BoxFuture, Compress, Core, Cx},
    error::Result,
    message::ToolResultBlock,
    middleware::CompressInput,
    texts,
    tool::{Tool, ToolCx, ToolError, ToolResponse},
};

impl Core<Compress> for ReplyScope {
    fn run(self: Arc<Self>, _cx: Cx<Compress>, _input: CompressInput) -> BoxFuture<'static, Result<()>> {
        Box::pin(async move { Ok(()) })
    }
}

impl ReplyScope {
    /// Cuts a tool result that is over the limit.
    pub(super) async fn cut_to_limit(&self, result: ToolResultBlock) -> Result<ToolResultBlock> {
        Ok(result)
    }
}

/// The tool with which a model compresses its own context.
#[derive(Debug)]
pub(super) struct CompressContextTool;

impl Tool for CompressContextTool {
    fn name(&self) -> &str {
        "CompressContext"
    }

    fn description(&self) -> &str {
        texts::TOOL_DESCRIPTION_COMPRESS
    }

    fn input_schema(&self) -> &Value {
        static SCHEMA: std::sync::LazyLock<Value> =
            std::sync::LazyLock::new(|| serde_json::json!({"type": "object", "properties": {}}));
        &SCHEMA
    }

    fn call(
        self: Arc<Self>,
        _input: Map<String, Value>,
        _cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
        Box::pin(async move { Ok(ToolResponse::text(texts::TOOL_CONTEXT_UNCHANGED)) })
    }
}
