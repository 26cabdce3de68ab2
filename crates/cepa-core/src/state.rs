//! What an agent knows about its session: everything that is saved and loaded.

mod parts;
mod reply_context;
mod tasks;
mod tool_calls;
mod tool_context;

pub use reply_context::ReplyContext;
pub use tasks::{Task, TaskContext, TaskState};
pub use tool_context::{ReadCacheEntry, ToolContext, ToolContextError};

use std::sync::Arc;

use serde::{Deserialize, Deserializer, de::MapAccess};

use self::reply_context::LoadedReplyContext;
use crate::{
    fields::Fields,
    id::Id,
    message::{ContentBlock, Msg, Role, TextOrBlocks},
    permission::PermissionContext,
    store::Store,
    wire::{FromMap, object, read},
};

/// The state of an agent in a session, in AgentScope 2.0.11's JSON: a session begun there can go on here, and back.
///
/// ```
/// use cepa_core::AgentState;
///
/// let state: AgentState = serde_json::from_str(r#"{"session_id": "s1", "context": []}"#)?;
/// assert_eq!(state.session_id, "s1");
/// let json = serde_json::to_string(&state)?;
/// assert!(json.starts_with(r#"{"session_id":"s1","summary":"","context":[],"#));
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct AgentState {
    /// The session.
    pub session_id: Id,
    /// What the messages said that are no longer in the context.
    pub summary: TextOrBlocks,
    /// The messages models see. They are shared with running requests, so change one by [`Arc::make_mut`].
    pub context: Vec<Arc<Msg>>,
    /// The reply at hand.
    pub reply_context: ReplyContext,
    /// What tools may do.
    pub permission_context: PermissionContext,
    /// What tools remember.
    pub tool_context: ToolContext,
    /// The agent's list of tasks.
    pub tasks_context: TaskContext,
    /// What layers remember.
    pub middle_context: Store,
    /// Fields that this version does not know.
    pub extra: Fields,
}

impl AgentState {
    /// The state of a new session with a fresh id.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "each state has an id of its own")]
    pub fn new() -> Self {
        Self::with_session_id(Id::new())
    }

    /// The state of a new session.
    pub fn with_session_id(session_id: impl Into<Id>) -> Self {
        Self {
            session_id: session_id.into(),
            summary: TextOrBlocks::default(),
            context: Vec::new(),
            reply_context: ReplyContext::new(),
            permission_context: PermissionContext::default(),
            tool_context: ToolContext::default(),
            tasks_context: TaskContext::default(),
            middle_context: Store::default(),
            extra: Fields::new(),
        }
    }

    /// The reply at hand; the id of its message.
    #[must_use]
    pub const fn reply_id(&self) -> &Id {
        &self.reply_context.reply_id
    }

    /// Appends blocks to the message of the reply at hand, which the agent `name` writes. It is begun if it is not
    /// the last message.
    pub fn append_context(
        &mut self,
        name: impl Into<Arc<str>> + AsRef<str>,
        blocks: impl IntoIterator<Item = ContentBlock>,
    ) {
        let reply_id = &self.reply_context.reply_id;
        if let Some(last) = self.context.last_mut()
            && last.role == Role::Assistant
            && *last.name == *name.as_ref()
            && last.id == *reply_id
        {
            Arc::make_mut(last).content.extend(blocks);
        } else {
            let content: Vec<_> = blocks.into_iter().collect();
            self.context.push(Arc::new(Msg::assistant(name, content).with_id(reply_id)));
        }
    }
}

/// A state as it was saved: before AgentScope had a `reply_context`, two of its fields stood beside the others.
struct LoadedState {
    session_id: Id,
    summary: TextOrBlocks,
    context: Vec<Arc<Msg>>,
    reply_context: LoadedReplyContext,
    permission_context: PermissionContext,
    tool_context: ToolContext,
    tasks_context: TaskContext,
    middle_context: Store,
    reply_id: Option<Id>,
    cur_iter: Option<u32>,
}

impl FromMap for AgentState {
    const WHAT: &'static str = "an agent state";

    fn from_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut extra = Fields::new();
        let loaded = read!(
            map,
            extra,
            LoadedState {
                session_id = Id::new(),
                summary = TextOrBlocks::default(),
                context = Vec::new(),
                reply_context = LoadedReplyContext::default(),
                permission_context = PermissionContext::default(),
                tool_context = ToolContext::default(),
                tasks_context = TaskContext::default(),
                middle_context = Store::default(),
                reply_id = None,
                cur_iter = None,
            }
        );
        Ok(Self {
            session_id: loaded.session_id,
            summary: loaded.summary,
            context: loaded.context,
            reply_context: loaded.reply_context.or(loaded.reply_id, loaded.cur_iter),
            permission_context: loaded.permission_context,
            tool_context: loaded.tool_context,
            tasks_context: loaded.tasks_context,
            middle_context: loaded.middle_context,
            extra,
        })
    }
}

impl<'de> Deserialize<'de> for AgentState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        object(deserializer)
    }
}
