//! `TaskUpdate`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Action, join, not_found};
use crate::{
    id::Id,
    state::{Task, TaskContext, TaskState},
    tool::ToolError,
};

#[derive(Deserialize, JsonSchema)]
pub(super) struct Changes {
    /// Id of the task.
    task_id: String,
    /// New subject.
    #[serde(default)]
    subject: Option<String>,
    /// New description.
    #[serde(default)]
    description: Option<String>,
    /// Ids of tasks that are to wait for this one.
    #[serde(default)]
    add_blocks: Option<Vec<String>>,
    /// New status.
    #[serde(default)]
    status: Option<Status>,
    /// Ids of tasks that this one is to wait for.
    #[serde(default)]
    add_blocked_by: Option<Vec<String>>,
    /// New owner.
    #[serde(default)]
    owner: Option<String>,
    /// Entries to set in the metadata; `null` takes an entry out.
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
}

#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
    Deleted,
}

impl Status {
    /// The state of a task that stays on the list.
    fn state(self) -> Option<TaskState> {
        match self {
            Self::Pending => Some(TaskState::Pending),
            Self::InProgress => Some(TaskState::InProgress),
            Self::Completed => Some(TaskState::Completed),
            Self::Deleted => None,
        }
    }
}

pub(super) struct Update;

impl Action for Update {
    const NAME: &'static str = "TaskUpdate";
    const DESCRIPTION: &'static str = "Changes a task; what is not given stays as it is. Read it with `TaskGet` \
        first, as it may have changed.\n\n\
        The status goes from `pending` to `in_progress` when you begin and to `completed` when all of the task is \
        done. A task is not done while tests fail, a part is missing, or an error or a missing file stands in the \
        way: leave it `in_progress` then, and make a task of what must be solved first. `deleted` takes a task off \
        the list for good, if it is not wanted any more or was a mistake. When a task is completed, those that \
        waited for it are free: look at `TaskList` for the next one.\n\n\
        Begin: {\"task_id\": \"1\", \"status\": \"in_progress\"}\n\
        Take over: {\"task_id\": \"1\", \"owner\": \"my-name\"}\n\
        Let 2 wait for 1: {\"task_id\": \"2\", \"add_blocked_by\": [\"1\"]}";
    const READ_ONLY: bool = false;
    type Arguments = Changes;

    fn run(tasks: &mut TaskContext, arguments: Changes) -> Result<String, ToolError> {
        let id = Id::from(arguments.task_id.as_str());
        if tasks.find(&id).is_none() {
            return Err(not_found(&id));
        }
        if arguments.status == Some(Status::Deleted) {
            delete(tasks, &id);
            return Ok(format!("Task {id} is off the list."));
        }
        let mut report = Report::default();
        link(tasks, &id, &arguments, &mut report);
        if let Some(task) = tasks.find_mut(&id) {
            change(task, arguments, &mut report);
        }
        let completed = tasks.find(&id).is_some_and(|task| task.state == TaskState::Completed);
        if completed {
            release(tasks, &id);
        }
        Ok(report.text(&id, completed))
    }
}

/// What was changed, and which ids were no use.
#[derive(Default)]
struct Report {
    changed: Vec<&'static str>,
    unknown: Vec<Id>,
}

impl Report {
    fn text(&self, id: &Id, completed: bool) -> String {
        let mut text = if self.changed.is_empty() {
            format!("Nothing of task {id} was changed: give at least one field a new value.")
        } else {
            format!("Task {id} was changed: {}.", self.changed.join(", "))
        };
        if !self.unknown.is_empty() {
            text.push_str(&format!(" No other tasks: {}.", join(&self.unknown)));
        }
        if completed {
            text.push_str(
                "\n\nIt is completed. `TaskList` shows what comes next and what this has set free.",
            );
        }
        text
    }
}

/// Lets tasks wait for each other, in both of them.
fn link(tasks: &mut TaskContext, id: &Id, arguments: &Changes, report: &mut Report) {
    let directions =
        [("add_blocks", &arguments.add_blocks, true), ("add_blocked_by", &arguments.add_blocked_by, false)];
    for (field, others, first) in directions {
        let mut changed = false;
        for other in others.iter().flatten().map(|other| Id::from(other.as_str())) {
            // A task that waits for itself would never be begun.
            if other == *id || tasks.find(&other).is_none() {
                report.unknown.push(other);
                continue;
            }
            let (before, after) = if first { (id, &other) } else { (&other, id) };
            changed |= block(tasks, before, after);
        }
        if changed {
            report.changed.push(field);
        }
    }
}

/// Lets `after` wait for `before`, unless `before` is done. Returns whether that is new.
fn block(tasks: &mut TaskContext, before: &Id, after: &Id) -> bool {
    let Some(first) = tasks.find_mut(before) else { return false };
    let is_new = add(&mut first.blocks, after);
    // Completing a task sets the others free only once: one that is completed already would hold them for ever.
    if first.state == TaskState::Completed {
        return is_new;
    }
    let waits = tasks.find_mut(after).is_some_and(|then| add(&mut then.blocked_by, before));
    is_new || waits
}

fn add(ids: &mut Vec<Id>, id: &Id) -> bool {
    let is_new = !ids.contains(id);
    if is_new {
        ids.push(id.clone());
    }
    is_new
}

fn change(task: &mut Task, arguments: Changes, report: &mut Report) {
    let Changes { subject, description, status, owner, metadata, .. } = arguments;
    if let Some(subject) = subject.filter(|subject| !subject.is_empty()) {
        task.subject = subject;
        report.changed.push("subject");
    }
    if let Some(description) = description {
        task.description = description;
        report.changed.push("description");
    }
    if let Some(state) = status.and_then(Status::state) {
        task.state = state;
        report.changed.push("status");
    }
    if let Some(owner) = owner {
        task.owner = Some(owner);
        report.changed.push("owner");
    }
    if let Some(metadata) = metadata.filter(|metadata| !metadata.is_empty()) {
        for (key, value) in metadata {
            if value.is_null() {
                task.metadata.remove(&key);
            } else {
                task.metadata.insert(key, value);
            }
        }
        report.changed.push("metadata");
    }
}

/// Nobody waits for this task any more.
fn release(tasks: &mut TaskContext, id: &Id) {
    for task in &mut tasks.tasks {
        task.blocked_by.retain(|other| other != id);
    }
}

fn delete(tasks: &mut TaskContext, id: &Id) {
    tasks.tasks.retain(|task| task.id != *id);
    release(tasks, id);
    for task in &mut tasks.tasks {
        task.blocks.retain(|other| other != id);
    }
}
