//! The tools with which an agent keeps its memories.

mod look;
mod write;

use std::{fmt, sync::Arc};

use cepa_core::{
    BoxFuture, PermissionBehavior, PermissionContext, PermissionDecision, Tool, ToolCx, ToolError,
    ToolResponse,
    serde_json::{Map, Value, from_value, json},
};
use serde::de::DeserializeOwned;

use super::{error::AgenticMemoryError, folder::Open, settings::Memory};

/// Those that an agent may use.
pub(super) fn of(memory: &Memory) -> Vec<Arc<dyn Tool>> {
    let actions = [look::LIST, look::READ, look::SEARCH, write::WRITE, write::EDIT, write::DELETE];
    let tool = |action: Action| -> Arc<dyn Tool> {
        Arc::new(MemoryTool { schema: (action.schema)(), action, memory: memory.clone() })
    };
    let is_allowed = |action: &Action| action.read_only || !memory.settings.read_only;
    actions.into_iter().filter(is_allowed).map(tool).collect()
}

/// What one of the tools is and does.
struct Action {
    name: &'static str,
    description: &'static str,
    schema: fn() -> Value,
    read_only: bool,
    run: fn(&Open, Map<String, Value>) -> Result<String, ToolError>,
}

struct MemoryTool {
    action: Action,
    schema: Value,
    memory: Memory,
}

impl fmt::Debug for MemoryTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.action.name)
    }
}

impl Tool for MemoryTool {
    fn name(&self) -> &str {
        self.action.name
    }

    fn description(&self) -> &str {
        self.action.description
    }

    fn input_schema(&self) -> &Value {
        &self.schema
    }

    fn is_read_only(&self) -> bool {
        self.action.read_only
    }

    fn check_permissions<'a>(
        &'a self,
        _input: &'a Map<String, Value>,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, PermissionDecision> {
        let reason = format!("Tool `{}` does not leave the folder of memories.", self.action.name);
        Box::pin(std::future::ready(PermissionDecision::new(PermissionBehavior::Allow, reason)))
    }

    fn call(
        self: Arc<Self>,
        mut input: Map<String, Value>,
        _cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
        Box::pin(async move {
            self.make_relative(&mut input);
            let run = self.action.run;
            let done = self.memory.blocking(move |open| Ok(run(open, input))).await?;
            done.map(ToolResponse::text)
        })
    }
}

impl MemoryTool {
    /// The prompt and the hints tell whole paths: they are as good as names.
    fn make_relative(&self, input: &mut Map<String, Value>) {
        let root = self.memory.path_of("");
        if let Some(Value::String(file)) = input.get_mut("file")
            && let Some(name) = file.strip_prefix(&root)
        {
            *file = name.to_owned();
        }
    }
}

/// The arguments, which fit the schema: that is checked before.
fn read<T: DeserializeOwned>(input: Map<String, Value>) -> Result<T, ToolError> {
    from_value(Value::Object(input)).map_err(ToolError::from)
}

/// A schema of these properties.
fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

/// The property that names a memory.
fn file() -> Value {
    text("The memory's file, such as `user_role.md`.")
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn number(description: &str) -> Value {
    json!({"type": "integer", "minimum": 1, "description": description})
}

fn failed(name: &str) -> impl FnOnce(std::io::Error) -> AgenticMemoryError {
    AgenticMemoryError::io(name)
}
