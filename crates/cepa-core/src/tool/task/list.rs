//! `TaskList`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Action, join};
use crate::{
    state::{Task, TaskContext},
    tool::ToolError,
};

#[derive(Deserialize, JsonSchema)]
pub(super) struct Nothing {}

pub(super) struct List;

impl Action for List {
    const NAME: &'static str = "TaskList";
    const DESCRIPTION: &'static str = "Shows all tasks, one a line: id, status (`pending`, `in_progress` or \
        `completed`), subject, the owner if there is one, and the tasks it still waits for.\n\n\
        Use it to see how far things have come, what is free to be begun (pending, without an owner, not blocked), \
        and what a task that you completed has set free. Where several are free, take the lowest id first: earlier \
        tasks often prepare later ones. `TaskGet` shows one in full.";
    const READ_ONLY: bool = true;
    type Arguments = Nothing;

    fn run(tasks: &mut TaskContext, Nothing {}: Nothing) -> Result<String, ToolError> {
        if tasks.tasks.is_empty() {
            return Ok("There are no tasks.".to_owned());
        }
        Ok(tasks.tasks.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}

fn line(task: &Task) -> String {
    let mut line = format!("{} [{}] {}", task.id, task.state, task.subject);
    if let Some(owner) = task.owner.as_ref().filter(|owner| !owner.is_empty()) {
        line.push_str(&format!(" ({owner})"));
    }
    if !task.blocked_by.is_empty() {
        line.push_str(&format!(" [blocked by {}]", join(&task.blocked_by)));
    }
    line
}
