//! The tool by which the model stops calls in the background.

use std::sync::{Arc, LazyLock};

use cepa_core::{
    BoxFuture, Id, PermissionContext, PermissionDecision, Tool, ToolCx, ToolError, ToolResponse,
    serde_json::{Map, Value, json},
};

use super::{
    calls::{BackgroundCalls, Stopping},
    texts,
};

/// The tool's name (AgentScope 2.0.11).
pub(super) const NAME: &str = "ToolStop";

const TASK_ID: &str = "task_id";

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {TASK_ID: {"type": "string", "description": texts::STOP_TASK_ID}},
        "required": [TASK_ID],
    })
});

/// Stops calls of its own session.
#[derive(Debug)]
pub(super) struct ToolStop {
    calls: BackgroundCalls,
}

impl ToolStop {
    pub(super) fn new(calls: BackgroundCalls) -> Self {
        Self { calls }
    }
}

impl Tool for ToolStop {
    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        texts::STOP
    }

    fn input_schema(&self) -> &Value {
        &SCHEMA
    }

    fn check_permissions<'a>(
        &'a self,
        _input: &'a Map<String, Value>,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, PermissionDecision> {
        Box::pin(std::future::ready(PermissionDecision::allow("it stops only what the session has started")))
    }

    fn call(
        self: Arc<Self>,
        input: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
        Box::pin(async move {
            let id = Id::from(input.get(TASK_ID).and_then(Value::as_str).unwrap_or_default());
            let session = cx.state()?.session_id.clone();
            Ok(match self.calls.stop_by_model(&id, &session) {
                Stopping::Stops => ToolResponse::text(format!("Task {id} is stopped.")),
                Stopping::HasEnded => {
                    ToolResponse::text(format!("Task {id} has ended already: its result comes next."))
                }
                Stopping::Unknown => ToolResponse::error(format!("There is no task {id} that runs.")),
            })
        })
    }
}
