//! What stands behind the layer.

use cepa_core::{BoxError, BoxFuture};
use serde::Serialize;

/// How many memories are found, unless told otherwise.
pub(super) const TOP_K: usize = 5;

/// Something that searches and adds as mem0 does.
///
/// ```
/// use cepa_core::{BoxError, BoxFuture};
/// use cepa_memory::mem0::{Mem0, Mem0Add, Mem0Added, Mem0Memory, Mem0Search};
///
/// /// Knows one thing and learns nothing.
/// struct Stubborn;
///
/// impl Mem0 for Stubborn {
///     fn search(&self, _search: Mem0Search) -> BoxFuture<'_, Result<Vec<Mem0Memory>, BoxError>> {
///         Box::pin(async { Ok(vec![Mem0Memory::new("likes tea")]) })
///     }
///     fn add(&self, _add: Mem0Add) -> BoxFuture<'_, Result<Mem0Added, BoxError>> {
///         Box::pin(async { Ok(Mem0Added::Nothing) })
///     }
/// }
/// ```
pub trait Mem0: Send + Sync + 'static {
    /// Finds memories, the best first.
    ///
    /// # Errors
    /// The service fails. A reply goes on without memories then.
    fn search(&self, search: Mem0Search) -> BoxFuture<'_, Result<Vec<Mem0Memory>, BoxError>>;

    /// Remembers what is worth it in some messages.
    ///
    /// # Errors
    /// The service fails.
    fn add(&self, add: Mem0Add) -> BoxFuture<'_, Result<Mem0Added, BoxError>>;
}

/// What is looked for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mem0Search {
    /// In the words of the user, or keywords.
    pub query: String,
    /// Whose memories.
    pub user_id: String,
    /// Only those of this agent, if it is set.
    pub agent_id: Option<String>,
    /// How many at most.
    pub top_k: usize,
    /// The lowest score; the service's own if it is not set.
    pub threshold: Option<f64>,
}

impl Mem0Search {
    /// The best 5 memories of a user.
    pub fn new(query: impl Into<String>, user_id: impl Into<String>) -> Self {
        Self { query: query.into(), user_id: user_id.into(), agent_id: None, top_k: TOP_K, threshold: None }
    }
}

/// What is to be remembered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mem0Add {
    /// The messages that hold it.
    pub messages: Vec<Mem0Message>,
    /// Of whom.
    pub user_id: String,
    /// By which agent.
    pub agent_id: Option<String>,
    /// Whether mem0's model picks out what is worth remembering; else the messages are kept as they are.
    pub infer: bool,
}

impl Mem0Add {
    /// What is worth it in these messages, of a user.
    pub fn new(messages: Vec<Mem0Message>, user_id: impl Into<String>) -> Self {
        Self { messages, user_id: user_id.into(), agent_id: None, infer: true }
    }
}

/// A message as mem0 takes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Mem0Message {
    /// `user` or `assistant`.
    pub role: &'static str,
    /// What is said.
    pub content: String,
    /// Who says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Mem0Message {
    /// What the user says.
    pub fn user(content: impl Into<String>) -> Self {
        Self { role: "user", content: content.into(), name: None }
    }

    /// What the agent says.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self { role: "assistant", content: content.into(), name: None }
    }
}

/// Something that is remembered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mem0Memory {
    /// Its id, if the service tells it.
    pub id: Option<String>,
    /// What is remembered.
    pub memory: String,
    /// How well it fits a search.
    pub score: Option<f64>,
}

impl Mem0Memory {
    /// A memory with nothing but its text.
    pub fn new(memory: impl Into<String>) -> Self {
        Self { id: None, memory: memory.into(), score: None }
    }
}

/// What became of what was to be remembered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Mem0Added {
    /// It is remembered, as these memories.
    Done(Vec<Mem0Memory>),
    /// Nothing in it was found worth remembering.
    Nothing,
    /// The service has taken it and works on it: what comes of it is not known yet.
    Pending {
        /// The id of the work, for asking later.
        event_id: Option<String>,
    },
}
