//! The agent's list of tasks.

use crate::{
    fields::Fields,
    id::Id,
    time::Timestamp,
    wire::{names, wire},
};

/// The agent's list of tasks.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TaskContext {
    /// The tasks, in the order they were made.
    pub tasks: Vec<Task>,
    /// Fields that this version does not know.
    pub extra: Fields,
}

wire!(TaskContext, "a task context", { tasks = Vec::new() });

/// How far a task has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskState {
    /// Not begun.
    #[default]
    Pending,
    /// Being worked on.
    InProgress,
    /// Done.
    Completed,
}

names!(TaskState, "a task state", {
    Pending = "pending",
    InProgress = "in_progress",
    Completed = "completed",
});

/// Something the agent wants to do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Task {
    /// The task in a few words.
    pub subject: String,
    /// What is to be done.
    pub description: String,
    /// What else is known about it.
    pub metadata: Fields,
    /// When the task was made.
    pub created_at: Timestamp,
    /// How far it has come.
    pub state: TaskState,
    /// The task's own id.
    pub id: Id,
    /// Who works on it.
    pub owner: Option<String>,
    /// Tasks that wait for this one.
    pub blocks: Vec<Id>,
    /// Tasks this one waits for.
    pub blocked_by: Vec<Id>,
    /// Fields that this version does not know.
    pub extra: Fields,
}

impl Task {
    /// A task that is not begun, made now.
    pub fn new(subject: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            description: description.into(),
            metadata: Fields::new(),
            created_at: Timestamp::now(),
            state: TaskState::Pending,
            id: Id::new(),
            owner: None,
            blocks: Vec::new(),
            blocked_by: Vec::new(),
            extra: Fields::new(),
        }
    }
}

wire!(Task, "a task", {
    subject,
    description,
    metadata = Fields::new(),
    created_at = Timestamp::now(),
    state = TaskState::Pending,
    id = Id::new(),
    owner = None,
    blocks = Vec::new(),
    blocked_by = Vec::new(),
});
