//! `TaskGet`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Action, join, not_found};
use crate::{id::Id, state::TaskContext, tool::ToolError};

#[derive(Deserialize, JsonSchema)]
pub(super) struct Which {
    /// Id of the task.
    task_id: String,
}

pub(super) struct Get;

impl Action for Get {
    const NAME: &'static str = "TaskGet";
    const DESCRIPTION: &'static str = "Shows one task in full: subject, status (`pending`, `in_progress` or \
        `completed`), description, owner, the tasks it waits for, those that wait for it, and what else is kept \
        with it.\n\n\
        Use it before you begin a task, to know all that it asks for, and before you change one. A task that is \
        blocked must wait until the others are completed.";
    const READ_ONLY: bool = true;
    type Arguments = Which;

    fn run(tasks: &mut TaskContext, arguments: Which) -> Result<String, ToolError> {
        let id = Id::from(arguments.task_id);
        let task = tasks.find(&id).ok_or_else(|| not_found(&id))?;
        let mut lines = vec![
            format!("Task {}: {}", task.id, task.subject),
            format!("Status: {}", task.state),
            format!("Description: {}", task.description),
        ];
        if let Some(owner) = task.owner.as_ref().filter(|owner| !owner.is_empty()) {
            lines.push(format!("Owner: {owner}"));
        }
        if !task.blocked_by.is_empty() {
            lines.push(format!("Blocked by: {}", join(&task.blocked_by)));
        }
        if !task.blocks.is_empty() {
            lines.push(format!("Blocks: {}", join(&task.blocks)));
        }
        if !task.metadata.is_empty() {
            lines.push(format!("Metadata: {}", serde_json::to_string(&task.metadata)?));
        }
        Ok(lines.join("\n"))
    }
}
