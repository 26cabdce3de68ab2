//! A tool with a guard right around it.

use std::{fmt, sync::Arc};

use cepa_core::{
    BoxFuture, PermissionContext, PermissionDecision, PermissionRule, Tool, ToolCx, ToolError,
    ToolMiddleware, ToolResponse,
};
use serde_json::{Map, Value};

/// A tool with one layer more, inside of all others: nothing can change the call behind it.
pub(crate) struct Protected {
    inner: Arc<dyn Tool>,
    layer: Arc<dyn ToolMiddleware>,
}

impl Protected {
    pub(crate) fn new(inner: Arc<dyn Tool>, layer: Arc<dyn ToolMiddleware>) -> Self {
        Self { inner, layer }
    }
}

impl fmt::Debug for Protected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Protected").field(&self.inner).finish()
    }
}

impl Tool for Protected {
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn description(&self) -> &str {
        self.inner.description()
    }
    fn input_schema(&self) -> &Value {
        self.inner.input_schema()
    }
    fn is_concurrency_safe(&self) -> bool {
        self.inner.is_concurrency_safe()
    }
    fn is_read_only(&self) -> bool {
        self.inner.is_read_only()
    }
    fn is_read_only_call(&self, input: &Map<String, Value>) -> bool {
        self.inner.is_read_only_call(input)
    }
    fn is_idempotent(&self) -> bool {
        self.inner.is_idempotent()
    }
    fn is_external(&self) -> bool {
        self.inner.is_external()
    }
    fn metadata_schema(&self) -> Option<&Value> {
        self.inner.metadata_schema()
    }
    fn check_permissions<'a>(
        &'a self,
        input: &'a Map<String, Value>,
        context: &'a PermissionContext,
    ) -> BoxFuture<'a, PermissionDecision> {
        self.inner.check_permissions(input, context)
    }
    fn match_rule(&self, rule_content: Option<&str>, input: &Map<String, Value>) -> bool {
        self.inner.match_rule(rule_content, input)
    }
    fn generate_suggestions(&self, input: &Map<String, Value>) -> Vec<PermissionRule> {
        self.inner.generate_suggestions(input)
    }
    fn middlewares(&self) -> Vec<Arc<dyn ToolMiddleware>> {
        let mut layers = self.inner.middlewares();
        layers.push(self.layer.clone());
        layers
    }
    fn call(
        self: Arc<Self>,
        input: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
        self.inner.clone().call(input, cx)
    }
}
