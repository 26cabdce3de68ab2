//! `TaskCreate`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Action;
use crate::{
    id::Id,
    state::{Task, TaskContext},
    tool::ToolError,
};

#[derive(Deserialize, JsonSchema)]
pub(super) struct NewTask {
    /// The task in a few words, as an order: `Write the report`.
    subject: String,
    /// What is to be done, and when it counts as done.
    description: String,
    /// Anything else to keep with the task.
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
}

pub(super) struct Create;

impl Action for Create {
    const NAME: &'static str = "TaskCreate";
    const DESCRIPTION: &'static str = "Puts a task on your list for this session. The list keeps long work in \
        order, shows the user how far it has come, and is still there when earlier messages are gone.\n\n\
        Use it when a request takes three or more distinct steps, names several things to do, or asks for a plan: \
        put the tasks down before you begin, and add those that turn up on the way. Do without it when there is one \
        simple thing to do, or when the user only wants to talk or to know something.\n\n\
        A new task is `pending`. Look at `TaskList` first, so that nothing stands there twice; say with \
        `TaskUpdate` which tasks wait for which, and mark each one `in_progress` when you begin it and `completed` \
        when it is done.";
    const READ_ONLY: bool = false;
    type Arguments = NewTask;

    fn run(tasks: &mut TaskContext, arguments: NewTask) -> Result<String, ToolError> {
        let NewTask { subject, description, metadata } = arguments;
        let mut task = Task::new(subject, description);
        task.id = next_id(&tasks.tasks);
        task.metadata = metadata.unwrap_or_default().into();
        let answer = format!("Task {} is on the list: {}", task.id, task.subject);
        tasks.tasks.push(task);
        Ok(answer)
    }
}

/// One more than the highest number among the ids; other ids do not count.
fn next_id(tasks: &[Task]) -> Id {
    let highest = tasks.iter().filter_map(|task| task.id.to_string().parse::<u64>().ok()).max();
    highest.unwrap_or(0).checked_add(1).map_or_else(Id::new, |next| next.to_string().into())
}
