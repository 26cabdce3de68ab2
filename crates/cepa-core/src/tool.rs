//! Tools: the trait, calls and their results, and the toolkit.

mod chunk;
mod cx;
mod error;
mod group;
mod input;
mod lenient;
mod meta;
mod middleware;
mod response;
mod run;
mod schema_only;
mod task;
mod toolkit;

use std::{fmt, sync::Arc};

use serde_json::{Map, Value};

pub use self::{
    chunk::ToolChunk,
    error::ToolError,
    group::ToolGroup,
    middleware::{ToolMiddleware, on_tool_call},
    response::ToolResponse,
    schema_only::SchemaTool,
    task::task_tools,
    toolkit::{Toolkit, ToolkitError},
};
pub(crate) use self::{
    chunk::ToolFold,
    input::{Validator, read_object},
    run::run_tool,
    toolkit::{Entry, ToolkitBuilder},
};
use crate::{
    agent::ReplyScope,
    chain::{Acting, BoxFuture, Cx, Frame, ToolCalling},
    message::ToolCallBlock,
    permission::{PermissionBehavior, PermissionContext, PermissionDecision, PermissionRule},
};

/// What a tool is given beside its arguments: `cx.emit(chunk)` streams, `cx.context::<T>()` is the caller's.
pub type ToolCx = Cx<ToolCalling>;

/// A tool that an agent can call.
///
/// Mostly made by `#[tool]` on a function. By hand:
///
/// ```
/// use std::sync::{Arc, LazyLock};
/// use cepa_core::{
///     BoxFuture, PermissionContext, PermissionDecision, Tool, ToolCx, ToolError, ToolResponse,
///     serde_json::{Map, Value, json},
/// };
///
/// #[derive(Debug)]
/// struct Clock;
///
/// static SCHEMA: LazyLock<Value> = LazyLock::new(|| json!({"type": "object", "properties": {}}));
///
/// impl Tool for Clock {
///     fn name(&self) -> &str {
///         "clock"
///     }
///     fn description(&self) -> &str {
///         "Tells the seconds since 1970."
///     }
///     fn input_schema(&self) -> &Value {
///         &SCHEMA
///     }
///     fn is_read_only(&self) -> bool {
///         true // needs no permission
///     }
///     fn call(
///         self: Arc<Self>,
///         _input: Map<String, Value>,
///         _cx: ToolCx,
///     ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
///         Box::pin(async {
///             let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
///             Ok(ToolResponse::text(now.as_secs().to_string()))
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> cepa_core::Result<()> {
/// let toolkit = cepa_core::Toolkit::new([Arc::new(Clock) as Arc<dyn Tool>]).unwrap();
/// let response = toolkit.call("clock", Map::new()).await?;
/// assert!(response.output_text().parse::<u64>().is_ok());
/// # Ok(()) }
/// ```
pub trait Tool: fmt::Debug + Send + Sync + 'static {
    /// The name the model calls it by.
    fn name(&self) -> &str;

    /// What it does, for the model.
    fn description(&self) -> &str;

    /// JSON schema of its arguments: an object.
    fn input_schema(&self) -> &Value;

    /// Whether calls may run beside others of the same batch. `true` by default.
    fn is_concurrency_safe(&self) -> bool {
        true
    }

    /// Whether it changes nothing: such calls need no permission. `false` by default.
    fn is_read_only(&self) -> bool {
        false
    }

    /// Whether this very call changes nothing. [`Tool::is_read_only`] by default.
    fn is_read_only_call(&self, input: &Map<String, Value>) -> bool {
        let _ = input;
        self.is_read_only()
    }

    /// Whether calling it twice with the same arguments does no more than calling it once, so that a failed call may be
    /// tried again. [`Tool::is_read_only`] by default.
    fn is_idempotent(&self) -> bool {
        self.is_read_only()
    }

    /// Whether it runs elsewhere: the reply parks, and the caller brings the result. `false` by default.
    fn is_external(&self) -> bool {
        false
    }

    /// JSON schema of the metadata that a successful outside result carries.
    fn metadata_schema(&self) -> Option<&Value> {
        None
    }

    /// The tool's own word on a call, after the deny and ask rules. `context` holds the session's mode and directories,
    /// and the rules that are about this tool. Asks by default, as a function tool of
    /// AgentScope 2.0.11 does.
    fn check_permissions<'a>(
        &'a self,
        input: &'a Map<String, Value>,
        context: &'a PermissionContext,
    ) -> BoxFuture<'a, PermissionDecision> {
        let _ = (input, context);
        let decision = PermissionDecision::new(
            PermissionBehavior::Ask,
            format!("Tool `{}` runs only when a person allows it.", self.name()),
        );
        Box::pin(std::future::ready(decision))
    }

    /// Whether a rule with this content is about this call. A rule without content is about every call; with
    /// content about none, unless the tool says otherwise.
    fn match_rule(&self, rule_content: Option<&str>, input: &Map<String, Value>) -> bool {
        let _ = input;
        rule_content.is_none()
    }

    /// Rules to offer to the person who is asked about this call: to allow the whole tool, by default.
    fn generate_suggestions(&self, input: &Map<String, Value>) -> Vec<PermissionRule> {
        let _ = input;
        vec![PermissionRule::new(self.name(), PermissionBehavior::Allow, "suggested")]
    }

    /// Layers around it, outermost first; a group's layers go around these.
    fn middlewares(&self) -> Vec<Arc<dyn ToolMiddleware>> {
        Vec::new()
    }

    /// Runs it. Arguments are checked against the schema. Chunks go out by `cx.emit`; what was not streamed is
    /// returned in the response.
    ///
    /// # Errors
    /// [`ToolError::new`] is an answer for the model; [`ToolError::developer`] ends the reply.
    fn call(
        self: Arc<Self>,
        input: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, ToolError>>;
}

/// The input of `on_acting`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ActingInput {
    /// The permitted call. A layer that changes its name or arguments has it checked again before it runs.
    pub tool_call: ToolCallBlock,
}

impl ActingInput {
    pub(crate) fn new(tool_call: ToolCallBlock) -> Self {
        Self { tool_call }
    }
}

/// The input of `on_tool_call`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolCallInput {
    /// The arguments, checked against the schema.
    pub input: Map<String, Value>,
}

impl ToolCallInput {
    pub(crate) fn new(input: Map<String, Value>) -> Self {
        Self { input }
    }
}

/// Where a tool runs: in a reply, or on its own.
#[derive(Clone)]
pub struct ToolScope {
    pub(crate) tool: Arc<dyn Tool>,
    /// The call of the agent that it is part of.
    pub(crate) call: Option<Arc<Frame<Acting>>>,
}

impl ToolScope {
    pub(crate) fn reply(&self) -> Option<&Arc<ReplyScope>> {
        self.call.as_ref().map(|call| &call.scope)
    }
}

impl fmt::Debug for ToolScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolScope")
            .field("tool", &self.tool.name())
            .field("in_reply", &self.call.is_some())
            .finish()
    }
}
