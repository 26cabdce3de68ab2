//! Messages and what they are made of.

mod apply;
pub(crate) mod base64;
mod block;
mod content;
mod finished;
mod usage;

pub use block::{
    ContentBlock, DataBlock, HintBlock, HintContent, OutputBlock, Source, TextBlock, TextOrBlocks,
    ThinkingBlock, ToolCallBlock, ToolCallState, ToolOutput, ToolResultBlock, ToolResultState,
};
pub use content::MsgContent;
pub use finished::{ErrorInfo, ErrorType, ReplyFinishedReason};
pub use usage::Usage;

use std::{any::type_name, sync::Arc};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{
    error::ErrorKind,
    fields::Fields,
    id::Id,
    time::Timestamp,
    wire::{names, wire},
};

/// Who speaks in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// A person, or another agent.
    User,
    /// The agent.
    Assistant,
    /// Whoever set the agent up.
    System,
}

names!(Role, "a role", { User = "user", Assistant = "assistant", System = "system" });

/// A message. One reply of an agent is one message of the role `assistant` whose id is the reply's id.
///
/// ```
/// use cepa_core::{Msg, Role};
///
/// let msg = Msg::user("alice", "hello");
/// assert_eq!(msg.role, Role::User);
/// assert_eq!(msg.text().as_deref(), Some("hello"));
/// let json = serde_json::to_string(&msg)?;
/// assert_eq!(serde_json::from_str::<Msg>(&json)?, msg);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Msg {
    /// Who wrote the message.
    pub name: Arc<str>,
    /// What it says. See [`validate`](Self::validate) for which role may say what.
    pub content: Vec<ContentBlock>,
    /// The role it is written in.
    pub role: Role,
    /// The message's id; for a reply, the reply's id.
    pub id: Id,
    /// What the application wants to keep with the message; models do not see it. (In a request, the entry
    /// `cache_control` is a mark for servers that cache prompts.)
    pub metadata: Fields,
    /// When the message was begun.
    pub created_at: Timestamp,
    /// Tokens used for the message.
    pub usage: Option<Usage>,
    /// When the message was complete.
    pub finished_at: Option<Timestamp>,
    /// Why the reply ended.
    pub finished_reason: Option<ReplyFinishedReason>,
    /// The answer by schema, where one was asked for and given.
    pub structured_output: Option<Map<String, Value>>,
    /// The failure that ended the reply.
    pub error: Option<ErrorInfo>,
    /// Fields that this version does not know.
    pub extra: Fields,
}

wire!(Msg, "a message", check Msg::validate, {
    name,
    content,
    role,
    id = Id::new(),
    metadata = Fields::new(),
    created_at = Timestamp::now(),
    usage = None,
    finished_at = None,
    finished_reason = None,
    structured_output = None,
    error = None,
});

impl Msg {
    /// A message with a fresh id, made now, without checks.
    pub fn new(name: impl Into<Arc<str>>, role: Role, content: impl Into<MsgContent>) -> Self {
        Self {
            name: name.into(),
            content: content.into().0,
            role,
            id: Id::new(),
            metadata: Fields::new(),
            created_at: Timestamp::now(),
            usage: None,
            finished_at: None,
            finished_reason: None,
            structured_output: None,
            error: None,
            extra: Fields::new(),
        }
    }

    /// What a user says: text and data blocks only, see [`validate`](Self::validate).
    pub fn user(name: impl Into<Arc<str>>, content: impl Into<MsgContent>) -> Self {
        Self::new(name, Role::User, content).finished()
    }

    /// A system prompt.
    pub fn system(name: impl Into<Arc<str>>, text: impl Into<String>) -> Self {
        Self::new(name, Role::System, text.into()).finished()
    }

    /// What an agent says.
    pub fn assistant(name: impl Into<Arc<str>>, content: impl Into<MsgContent>) -> Self {
        Self::new(name, Role::Assistant, content)
    }

    /// The message, complete from the start.
    fn finished(mut self) -> Self {
        self.finished_at = Some(self.created_at.clone());
        self
    }

    /// The message under another id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Id>) -> Self {
        self.id = id.into();
        self
    }

    /// The message with metadata.
    #[must_use]
    pub fn with_metadata(mut self, metadata: impl Into<Fields>) -> Self {
        self.metadata = metadata.into();
        self
    }

    /// The text blocks joined by newlines, or `None` without any.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let mut texts = self.content.iter().filter_map(ContentBlock::as_text).peekable();
        texts.peek()?;
        Some(block::join_lines(texts).into_owned())
    }

    /// The tool calls, in order.
    pub fn tool_calls(&self) -> impl DoubleEndedIterator<Item = &ToolCallBlock> {
        self.content.iter().filter_map(ContentBlock::as_tool_call)
    }

    /// The tool calls, to be changed.
    pub fn tool_calls_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut ToolCallBlock> {
        self.content.iter_mut().filter_map(|block| match block {
            ContentBlock::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    /// The tool results, in order.
    pub fn tool_results(&self) -> impl DoubleEndedIterator<Item = &ToolResultBlock> {
        self.content.iter().filter_map(ContentBlock::as_tool_result)
    }

    /// Whether a tool is called.
    #[must_use]
    pub fn has_tool_calls(&self) -> bool {
        self.tool_calls().next().is_some()
    }

    /// The tool call `id`.
    #[must_use]
    pub fn tool_call(&self, id: &Id) -> Option<&ToolCallBlock> {
        self.tool_calls().find(|call| call.id == *id)
    }

    /// The result of the tool call `id`.
    #[must_use]
    pub fn tool_result(&self, id: &Id) -> Option<&ToolResultBlock> {
        self.tool_results().find(|result| result.id == *id)
    }

    /// The structured output as a `T`: what [`Agent::reply_as`](crate::Agent::reply_as) gives, for replies that were
    /// parked meanwhile or are read as a stream.
    ///
    /// ```
    /// # use cepa_core::Msg;
    /// # let msg: Msg = serde_json::from_str(r#"{"name": "a", "role": "assistant", "content": [],
    /// #     "structured_output": {"city": "Rome"}}"#)?;
    /// #[derive(serde::Deserialize)]
    /// struct Place {
    ///     city: String,
    /// }
    ///
    /// assert_eq!(msg.structured::<Place>()?.city, "Rome");
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// *No structured output* with the reason; *schema violation* for one that is no `T`, with the place.
    pub fn structured<T: DeserializeOwned>(&self) -> crate::Result<T> {
        let Some(output) = &self.structured_output else {
            return Err(ErrorKind::NoStructuredOutput { finished_reason: self.finished_reason }.into());
        };
        serde_path_to_error::deserialize(output).map_err(|error| {
            let what = format!("the structured output, read as `{}`,", type_name::<T>());
            ErrorKind::SchemaViolation { what, reason: error.to_string() }.into()
        })
    }

    /// Adds what a model call used.
    pub fn add_usage(&mut self, usage: Usage) {
        *self.usage.get_or_insert_default() += usage;
    }

    /// Checks which blocks the role may have: a user text and data, the system text, an assistant any. Reading a
    /// message from JSON checks this too.
    ///
    /// # Errors
    ///
    /// The first block that is out of place.
    pub fn validate(&self) -> Result<(), MessageError> {
        let allowed = match self.role {
            Role::User => "text and data",
            Role::System => "text",
            Role::Assistant => return Ok(()),
        };
        let misplaced = self.content.iter().find(|block| match block {
            ContentBlock::Text(_) => false,
            ContentBlock::Data(_) => self.role != Role::User,
            _ => true,
        });
        misplaced.map_or(Ok(()), |block| {
            Err(MessageError::Misplaced { role: self.role, found: block.block_type(), allowed })
        })
    }
}

/// A message that must not be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// A block that the role may not have.
    #[error("a message of the role `{role}` may hold {allowed} blocks only, not a `{found}` block")]
    #[non_exhaustive]
    Misplaced {
        /// The message's role.
        role: Role,
        /// The `type` of the block.
        found: &'static str,
        /// The types that are allowed, in words.
        allowed: &'static str,
    },
}
