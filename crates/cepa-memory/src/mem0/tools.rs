//! The tools by which a model searches and adds. No id is among their arguments: they are the reply's, or the layer's.

use std::{
    future::ready,
    sync::{Arc, LazyLock},
};

use cepa_core::{
    BoxError, BoxFuture, PermissionContext, PermissionDecision, Tool, ToolCx, ToolError, ToolResponse,
    texts::fill,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::{
    backend::{Mem0Added, Mem0Message},
    memory::{Found, Memory, NoScope, Note, unique},
    scope::MemoryScope,
    texts,
};
use crate::texts::{TOOL_ERROR_MEMORY_SEARCH, TOOL_MEMORY_EMPTY};

/// The tools for this memory.
pub(super) fn of(memory: &Arc<Memory>) -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(SearchMemory(memory.clone())), Arc::new(AddMemory(memory.clone()))]
}

/// How many keywords one call may have: each is a request to the service.
const MAX_KEYWORDS: usize = 20;

static SEARCH_SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "keywords": {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": MAX_KEYWORDS,
                "description": "Short phrases: a name, a date, a place, a topic.",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": 100,
                "description": "How many memories to find at most for each keyword.",
            },
        },
        "required": ["keywords"],
    })
});

static ADD_SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "thinking": {
                "type": "string",
                "description": "Why this is worth remembering. It is not kept.",
            },
            "content": {
                "type": "array",
                "items": {"type": "string"},
                "description": "The facts, each a whole sentence that can be understood by itself.",
            },
        },
        "required": ["thinking", "content"],
    })
});

fn allow<'a>() -> BoxFuture<'a, PermissionDecision> {
    Box::pin(ready(PermissionDecision::allow("an agent may always use its own memory")))
}

fn failed(text: &str, error: impl std::fmt::Display) -> ToolResponse {
    ToolResponse::error(fill(text, &[("error", &error.to_string())]))
}

/// Whose memories: those of the reply's layer, else as the caller says.
fn scope_of(memory: &Memory, cx: &ToolCx) -> Result<MemoryScope, NoScope> {
    match cx.scratch().and_then(|scratch| memory.entered(scratch)) {
        Some(scope) => Ok(scope),
        None => memory.scope(cx.context()),
    }
}

fn read<T: for<'de> Deserialize<'de>>(input: Map<String, Value>) -> Result<T, ToolError> {
    Ok(serde_json::from_value(input.into())?)
}

#[derive(Deserialize)]
struct Search {
    keywords: Vec<String>,
    limit: Option<usize>,
}

struct SearchMemory(Arc<Memory>);

impl Tool for SearchMemory {
    fn name(&self) -> &str {
        "search_memory"
    }

    fn description(&self) -> &str {
        texts::TOOL_DESCRIPTION_SEARCH
    }

    fn input_schema(&self) -> &Value {
        &SEARCH_SCHEMA
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn check_permissions<'a>(
        &'a self,
        _input: &'a Map<String, Value>,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, PermissionDecision> {
        allow()
    }

    fn call(
        self: Arc<Self>,
        input: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
        Box::pin(async move {
            let Search { keywords, limit } = read(input)?;
            let keywords = unique(keywords);
            if keywords.is_empty() {
                return Ok(ToolResponse::text(texts::TOOL_MEMORY_NO_KEYWORDS));
            }
            let scope = match scope_of(&self.0, &cx) {
                Ok(scope) => scope,
                Err(error) => return Ok(failed(TOOL_ERROR_MEMORY_SEARCH, error)),
            };
            let limit = limit.unwrap_or(self.0.top_k);
            let Found { memories, error } = match self.0.search(&scope, keywords, limit).await {
                Ok(found) => found,
                Err(error) => return Ok(failed(TOOL_ERROR_MEMORY_SEARCH, error)),
            };
            let found = match memories.is_empty() {
                true => TOOL_MEMORY_EMPTY.to_owned(),
                false => self.0.limits.bullets(&memories),
            };
            Ok(ToolResponse::text(match error {
                Some(error) => {
                    let note = fill(texts::TOOL_MEMORY_PARTLY, &[("error", &error.to_string())]);
                    format!("{found}\n\n{note}")
                }
                None => found,
            }))
        })
    }
}

#[derive(Deserialize)]
struct Add {
    thinking: String,
    content: Vec<String>,
}

struct AddMemory(Arc<Memory>);

impl AddMemory {
    /// Has it written, and waits a while for what becomes of it.
    async fn add(&self, content: &[String], cx: &ToolCx) -> Result<Mem0Added, BoxError> {
        let scope = scope_of(&self.0, cx)?;
        let session = cx.state().ok().map(|state| state.session_id.clone());
        let message = Mem0Message { name: Some("user".to_owned()), ..Mem0Message::user(content.join("\n")) };
        // The model wants it to be remembered, whatever mem0's own model thinks of it.
        let note = Note { messages: vec![message], infer: true, anyway: true };
        match timeout(self.0.tool_deadline, self.0.write(scope, session, note)).await {
            Ok(Ok(added)) => added,
            Ok(Err(_)) => Err("it was dropped: too much is being written, or the client is at fault".into()),
            Err(_) => Ok(Mem0Added::Pending { event_id: None }),
        }
    }
}

impl Tool for AddMemory {
    fn name(&self) -> &str {
        "add_memory"
    }

    fn description(&self) -> &str {
        texts::TOOL_DESCRIPTION_ADD
    }

    fn input_schema(&self) -> &Value {
        &ADD_SCHEMA
    }

    fn is_concurrency_safe(&self) -> bool {
        false
    }

    fn check_permissions<'a>(
        &'a self,
        _input: &'a Map<String, Value>,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, PermissionDecision> {
        allow()
    }

    fn call(
        self: Arc<Self>,
        input: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
        Box::pin(async move {
            let Add { thinking, content } = read(input)?;
            let content = unique(content);
            if content.is_empty() {
                return Ok(ToolResponse::error(texts::ERROR_MEMORY_ADD_EMPTY));
            }
            let text = match self.add(&content, &cx).await {
                Ok(Mem0Added::Pending { .. }) => texts::TOOL_MEMORY_PENDING,
                Ok(Mem0Added::Done(_)) => texts::TOOL_MEMORY_RECORDED,
                Ok(Mem0Added::Nothing) => {
                    return Ok(failed(texts::ERROR_MEMORY_ADD, "mem0 has kept nothing of it"));
                }
                Err(error) => return Ok(failed(texts::ERROR_MEMORY_ADD, error)),
            };
            Ok(ToolResponse::text(fill(text, &[("rationale", &thinking)])))
        })
    }
}

macro_rules! opaque {
    ($($tool:ident)*) => {$(
        impl std::fmt::Debug for $tool {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($tool))
            }
        }
    )*};
}

opaque!(SearchMemory AddMemory);
