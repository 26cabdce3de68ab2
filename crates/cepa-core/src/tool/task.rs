//! The tools with which an agent keeps its list of tasks.

mod create;
mod get;
mod list;
mod update;

use std::{fmt, sync::Arc};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Tool, ToolCx, ToolError, ToolResponse};
use crate::{
    __private::{Arguments, decide},
    chain::BoxFuture,
    id::Id,
    permission::{PermissionBehavior, PermissionContext, PermissionDecision},
    state::{Task, TaskContext},
};

/// The tools with which an agent keeps its list of tasks (AgentScope 2.0.11): `TaskCreate`, `TaskGet`, `TaskList`
/// and `TaskUpdate`.
///
/// The list is part of the session's state ([`AgentState::tasks_context`](crate::AgentState)), so it is saved with it
/// and survives a compression of the context: the agent is then told that there are tasks. The tools need no
/// permission; in [`PermissionMode::Explore`](crate::PermissionMode) only the two that read may be called.
///
/// ```
/// # use cepa_core::{Agent, BoxFuture, ChatModel, ChatResponse, ModelOutlet, ModelRequest, Result};
/// # #[derive(Debug)]
/// # struct Model;
/// # impl ChatModel for Model {
/// #     fn name(&self) -> &str { "model" }
/// #     fn call(&self, _: ModelRequest, _: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
/// #         Box::pin(async { Ok(ChatResponse::own_text("Done.")) })
/// #     }
/// # }
/// use cepa_core::tool::task_tools;
///
/// let agent = Agent::builder("Friday").model(Model).tools(task_tools()).build()?;
/// assert!(agent.state()?.tasks_context.tasks.is_empty());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub fn task_tools() -> Vec<Arc<dyn Tool>> {
    vec![
        TaskTool::<create::Create>::shared(),
        TaskTool::<get::Get>::shared(),
        TaskTool::<list::List>::shared(),
        TaskTool::<update::Update>::shared(),
    ]
}

/// What one of the tools does with the list.
trait Action: Send + Sync + 'static {
    const NAME: &'static str;
    const DESCRIPTION: &'static str;
    const READ_ONLY: bool;
    type Arguments: DeserializeOwned + JsonSchema + 'static;

    /// Does it and says what was done.
    fn run(tasks: &mut TaskContext, arguments: Self::Arguments) -> Result<String, ToolError>;
}

struct TaskTool<A: Action> {
    arguments: Arguments<A::Arguments>,
}

impl<A: Action> TaskTool<A> {
    fn shared() -> Arc<dyn Tool> {
        Arc::new(Self { arguments: Arguments::fields() })
    }
}

impl<A: Action> fmt::Debug for TaskTool<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(A::NAME)
    }
}

impl<A: Action> Tool for TaskTool<A> {
    fn name(&self) -> &str {
        A::NAME
    }

    fn description(&self) -> &str {
        A::DESCRIPTION
    }

    fn input_schema(&self) -> &Value {
        self.arguments.schema()
    }

    fn is_read_only(&self) -> bool {
        A::READ_ONLY
    }

    fn check_permissions<'a>(
        &'a self,
        _input: &'a Map<String, Value>,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, PermissionDecision> {
        decide(A::NAME, PermissionBehavior::Allow)
    }

    fn call(
        self: Arc<Self>,
        input: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
        Box::pin(async move {
            let arguments = self.arguments.read(input)?;
            // Without an agent there is no list, and no model to tell that.
            let mut state = cx.state().map_err(ToolError::developer)?;
            A::run(&mut state.tasks_context, arguments).map(ToolResponse::text)
        })
    }
}

impl TaskContext {
    fn find(&self, id: &Id) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == *id)
    }

    fn find_mut(&mut self, id: &Id) -> Option<&mut Task> {
        self.tasks.iter_mut().find(|task| task.id == *id)
    }
}

fn not_found(id: &Id) -> ToolError {
    ToolError::new(format!("There is no task {id}. `TaskList` shows which there are."))
}

/// `1, 2, 3`.
fn join(ids: &[Id]) -> String {
    ids.iter().map(Id::to_string).collect::<Vec<_>>().join(", ")
}
