//! A layer around one tool that writes the trace.

use std::sync::Arc;

use cepa_core::{BoxFuture, Cx, Next, Result, ToolCallInput, ToolCalling, ToolMiddleware, ToolResponse};
use serde_json::json;

use crate::log::Log;

/// Writes when it is entered and left.
#[derive(Debug)]
pub(super) struct ToolRecorder {
    label: String,
    log: Log,
}

impl ToolRecorder {
    pub(super) fn new(label: &str, log: &Log) -> Self {
        Self { label: label.to_owned(), log: log.clone() }
    }

    fn note(&self, at: &str) {
        self.log.trace(json!({"mw": self.label, "hook": "on_tool_call", "at": at}));
    }
}

impl ToolMiddleware for ToolRecorder {
    fn on_tool_call(
        self: Arc<Self>,
        _cx: Cx<ToolCalling>,
        input: ToolCallInput,
        next: Next<ToolCalling>,
    ) -> BoxFuture<'static, Result<ToolResponse>> {
        Box::pin(async move {
            self.note("enter");
            let result = next.run(input).await;
            self.note(if result.is_ok() { "exit" } else { "error" });
            result
        })
    }
}
