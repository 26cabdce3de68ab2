//! The tool with which a model searches.

use std::{future::ready, sync::Arc};

use cepa_core::{BoxFuture, PermissionContext, PermissionDecision, Tool, ToolCx, ToolError, ToolResponse};
use serde_json::{Map, Value, json};

use super::memory::Memory;
use crate::texts;

#[derive(Debug)]
pub(super) struct MemorySearchTool {
    memory: Arc<Memory>,
    schema: Value,
}

impl MemorySearchTool {
    pub(super) fn new(memory: Arc<Memory>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": texts::TOOL_MEMORY_SEARCH_QUERY},
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "default": memory.top_k,
                    "description": texts::TOOL_MEMORY_SEARCH_LIMIT,
                },
            },
            "required": ["query"],
        });
        Self { memory, schema }
    }
}

impl Tool for MemorySearchTool {
    fn name(&self) -> &str {
        "memory_search"
    }

    fn description(&self) -> &str {
        texts::TOOL_MEMORY_SEARCH
    }

    fn input_schema(&self) -> &Value {
        &self.schema
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn check_permissions<'a>(
        &'a self,
        _input: &'a Map<String, Value>,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, PermissionDecision> {
        Box::pin(ready(PermissionDecision::allow("an agent may always search its own memory")))
    }

    fn call(
        self: Arc<Self>,
        input: Map<String, Value>,
        _cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
        Box::pin(async move {
            let query = input.get("query").and_then(Value::as_str).unwrap_or_default().trim();
            if query.is_empty() {
                return Ok(ToolResponse::text(texts::TOOL_MEMORY_NO_QUERY));
            }
            let limit = input.get("limit").and_then(Value::as_u64);
            let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(self.memory.top_k);
            Ok(match self.memory.search(query.to_owned(), limit).await {
                Ok(memories) if memories.is_empty() => ToolResponse::text(texts::TOOL_MEMORY_EMPTY),
                Ok(memories) => ToolResponse::text(self.memory.limits.bullets(&memories)),
                Err(error) => ToolResponse::error(
                    texts::TOOL_ERROR_MEMORY_SEARCH.replace("{error}", &error.to_string()),
                ),
            })
        })
    }
}
