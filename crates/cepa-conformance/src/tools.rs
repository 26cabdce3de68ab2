//! Tools that do as the case says.

mod layer;

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use cepa_core::{
    BoxFuture, MiddlewareKey, OutputBlock, PermissionBehavior, PermissionContext, PermissionDecision,
    TextBlock, Tool, ToolChunk, ToolCx, ToolError, ToolMiddleware, ToolResponse, ToolResultState,
};
use serde_json::{Map, Value, json};

use self::layer::ToolRecorder;
use crate::{
    case::{BehaviourSpec, ToolChunkSpec, ToolSpec},
    error::Scripted,
    log::Log,
    models::{data_block, pause},
};

/// A scripted tool.
#[derive(Debug)]
pub(crate) struct ScriptedTool {
    spec: ToolSpec,
    description: String,
    input_schema: Value,
    log: Log,
    runs: AtomicUsize,
}

impl ScriptedTool {
    pub(crate) fn new(spec: &ToolSpec, log: &Log) -> Arc<Self> {
        let description = spec.description.clone().unwrap_or_else(|| format!("scripted tool {}", spec.name));
        let schema = spec.input_schema.clone();
        Arc::new(Self {
            description,
            input_schema: schema.unwrap_or_else(|| json!({"type": "object", "properties": {}})),
            spec: spec.clone(),
            log: log.clone(),
            runs: AtomicUsize::new(0),
        })
    }

    /// What this run does: each entry once, the last one again and again.
    fn behaviour(&self) -> BehaviourSpec {
        let run = self.runs.fetch_add(1, Relaxed);
        let all = self.spec.behaviour.as_ref().map_or(&[][..], |behaviour| behaviour.as_slice());
        all.get(run).or(all.last()).cloned().unwrap_or_default()
    }

    fn record(&self, what: &str, input: &Map<String, Value>) {
        self.log.trace(json!({"core": what, "tool": self.spec.name, "input": input}));
    }
}

impl Tool for ScriptedTool {
    fn name(&self) -> &str {
        &self.spec.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn input_schema(&self) -> &Value {
        &self.input_schema
    }

    fn is_concurrency_safe(&self) -> bool {
        self.spec.concurrency_safe.unwrap_or(true)
    }

    fn is_read_only(&self) -> bool {
        self.spec.read_only
    }

    fn is_external(&self) -> bool {
        self.spec.external
    }

    fn metadata_schema(&self) -> Option<&Value> {
        self.spec.metadata_schema.as_ref()
    }

    fn check_permissions<'a>(
        &'a self,
        input: &'a Map<String, Value>,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, PermissionDecision> {
        self.record("tool.check_permissions", input);
        Box::pin(std::future::ready(decision(self.spec.permission.as_deref().unwrap_or("allow"))))
    }

    fn middlewares(&self) -> Vec<Arc<dyn ToolMiddleware>> {
        let layers = self.spec.tool_middlewares.iter();
        layers
            .map(|layer| Arc::new(ToolRecorder::new(&layer.label, &self.log)) as Arc<dyn ToolMiddleware>)
            .collect()
    }

    fn call(
        self: Arc<Self>,
        input: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
        Box::pin(async move {
            self.record("tool", &input);
            let behaviour = self.behaviour();
            pause(behaviour.delay_ms, false).await;
            act(&behaviour, input, &cx).await
        })
    }
}

fn decision(permission: &str) -> PermissionDecision {
    let (behaviour, immune) = match permission {
        "allow" => (PermissionBehavior::Allow, false),
        "deny" => (PermissionBehavior::Deny, false),
        "passthrough" => (PermissionBehavior::Passthrough, false),
        "ask_immune" => (PermissionBehavior::Ask, true),
        _ => (PermissionBehavior::Ask, false),
    };
    let decision = PermissionDecision::new(behaviour, format!("scripted {permission}"));
    if immune { decision.bypass_immune() } else { decision }
}

async fn act(
    behaviour: &BehaviourSpec,
    input: Map<String, Value>,
    cx: &ToolCx,
) -> Result<ToolResponse, ToolError> {
    let text = behaviour.text.as_deref().unwrap_or_default();
    let message = behaviour.message.as_deref().unwrap_or("boom");
    match behaviour.kind.as_str() {
        "text" => Ok(ToolResponse::text(text)),
        "echo" => Ok(ToolResponse::text(spaced(&Value::Object(input)))),
        "repeat" => Ok(ToolResponse::text(text.repeat(behaviour.times))),
        "raise" => Err(ToolError::new(message)),
        "raise_developer" => Err(ToolError::developer(Scripted(message.to_owned()))),
        "error_state" => Ok(ToolResponse::error(behaviour.text.as_deref().unwrap_or(message))),
        "set_middle_context" => set_middle_context(behaviour.value.as_ref(), cx),
        "chunks" => stream(&behaviour.chunks, cx).await,
        other => Err(ToolError::developer(format!("the runner has no tool behaviour `{other}`"))),
    }
}

fn set_middle_context(value: Option<&Value>, cx: &ToolCx) -> Result<ToolResponse, ToolError> {
    let mut state = cx.state()?;
    for (key, value) in value.and_then(Value::as_object).into_iter().flatten() {
        state.middle_context.set(MiddlewareKey::from(key.clone()), value.clone());
    }
    Ok(ToolResponse::text("set"))
}

async fn stream(chunks: &[ToolChunkSpec], cx: &ToolCx) -> Result<ToolResponse, ToolError> {
    let mut response = ToolResponse::streamed();
    for spec in chunks {
        pause(spec.delay_ms, spec.hang).await;
        if let Some(message) = &spec.raise {
            return Err(ToolError::new(message));
        }
        if let Some(state) = &spec.state {
            response.state = state_named(state)?;
        }
        for (key, value) in &spec.metadata {
            response.metadata.insert(key.clone(), value.clone());
        }
        let chunk = chunk(spec);
        if !chunk.content.is_empty() {
            cx.emit(chunk).await;
        }
    }
    Ok(response)
}

fn chunk(spec: &ToolChunkSpec) -> ToolChunk {
    let mut blocks = Vec::new();
    if let Some(text) = &spec.text {
        let block = TextBlock::new(text);
        blocks.push(OutputBlock::Text(match &spec.block_id {
            Some(id) => block.with_id(id.as_str()),
            None => block,
        }));
    }
    blocks.extend(spec.data.as_ref().map(|data| OutputBlock::Data(data_block(data))));
    ToolChunk::from_blocks(blocks)
}

/// The result state of this name.
fn state_named(name: &str) -> Result<ToolResultState, serde_json::Error> {
    serde_json::from_value(name.into())
}

/// JSON with sorted keys and a space after each comma and colon.
fn spaced(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let entries = fields.iter().map(|(key, value)| format!("{}: {}", json!(key), spaced(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn echo_is_sorted_and_spaced() {
        let value = json!({"b": [1, "x\""], "a": {"c": null}});
        assert_eq!(spaced(&value), r#"{"a": {"c": null}, "b": [1, "x\""]}"#);
    }

    #[test]
    fn answers_of_the_tools_own_check() {
        assert_eq!(decision("deny").behavior, PermissionBehavior::Deny);
        assert_eq!(decision("deny").message, "scripted deny");
        assert!(decision("ask_immune").bypass_immune);
        assert!(!decision("ask").bypass_immune);
    }
}
