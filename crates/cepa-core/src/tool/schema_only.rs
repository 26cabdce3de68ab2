//! Tools that are only a schema.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Tool, ToolCx, ToolError, ToolResponse};
use crate::{
    chain::BoxFuture,
    permission::{PermissionContext, PermissionDecision},
};

/// A tool that is only a name, a description and a schema: a layer's `on_acting` answers its calls, or the caller
/// does when it is [external](Self::external).
#[derive(Clone, Debug)]
pub struct SchemaTool {
    name: String,
    description: String,
    input_schema: Value,
    metadata_schema: Option<Value>,
    external: bool,
    allowed: bool,
}

impl SchemaTool {
    /// A tool with this name, description and JSON schema of its arguments.
    pub fn new(name: impl Into<String>, description: impl Into<String>, input_schema: Value) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema,
            metadata_schema: None,
            external: false,
            allowed: false,
        }
    }

    /// It runs elsewhere: a call parks the reply, and the caller brings the result.
    #[must_use]
    pub fn external(mut self) -> Self {
        self.external = true;
        self
    }

    /// Calls need no permission.
    #[must_use]
    pub fn allowed(mut self) -> Self {
        self.allowed = true;
        self
    }

    /// What the metadata of a successful outside result must look like.
    #[must_use]
    pub fn with_metadata_schema(mut self, schema: Value) -> Self {
        self.metadata_schema = Some(schema);
        self
    }
}

impl Tool for SchemaTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn input_schema(&self) -> &Value {
        &self.input_schema
    }

    fn is_external(&self) -> bool {
        self.external
    }

    fn metadata_schema(&self) -> Option<&Value> {
        self.metadata_schema.as_ref()
    }

    fn check_permissions<'a>(
        &'a self,
        _input: &'a Map<String, Value>,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, PermissionDecision> {
        let decision = if self.allowed {
            PermissionDecision::allow("allowed by its definition")
        } else {
            PermissionDecision::ask(format!("Tool `{}` runs only when a person allows it.", self.name))
        };
        Box::pin(std::future::ready(decision))
    }

    fn call(
        self: Arc<Self>,
        _input: Map<String, Value>,
        _cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
        let error = ToolError::developer(format!(
            "tool `{}` is only a schema: a layer's `on_acting` must answer its calls",
            self.name
        ));
        Box::pin(std::future::ready(Err(error)))
    }
}
