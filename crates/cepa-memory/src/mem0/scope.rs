//! Whose memories.

use serde::{Deserialize, Serialize};

/// Whose memories a reply looks at and writes, given by the caller: `agent.reply(…).with(MemoryScope::user("alice"))`.
///
/// So one [`Mem0Middleware`](super::Mem0Middleware) serves many users. A reply that goes on after a pause keeps the scope with
/// which it began, whatever is given then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MemoryScope {
    /// The user.
    pub user_id: String,
    /// The agent; the layer's own if it is not set.
    pub agent_id: Option<String>,
}

impl MemoryScope {
    /// A user's memories.
    pub fn user(user_id: impl Into<String>) -> Self {
        Self { user_id: user_id.into(), agent_id: None }
    }

    /// Of this agent.
    #[must_use]
    pub fn agent(mut self, agent_id: impl Into<String>) -> Self {
        self.agent_id = Some(agent_id.into());
        self
    }

    /// Whether there is an id that is blank. mem0 takes a blank id for none, and finds what is everybody's.
    pub(super) fn is_blank(&self) -> bool {
        self.user_id.trim().is_empty() || self.agent_id.as_ref().is_some_and(|id| id.trim().is_empty())
    }
}
