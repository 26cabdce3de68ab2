//! [`ThinkingBlock`].

use crate::{fields::Fields, id::Id, time::Timestamp, wire::wire};

/// What a model thought before it answered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ThinkingBlock {
    /// The thoughts; empty when the provider hides them.
    pub thinking: String,
    /// The block's own id.
    pub id: Id,
    /// When the block was begun.
    pub created_at: Timestamp,
    /// When the block was complete; streaming sets it.
    pub finished_at: Option<Timestamp>,
    /// What the provider wants back with the block, such as `signature`, and fields that this version does not know.
    pub extra: Fields,
}

impl ThinkingBlock {
    /// A block with a fresh id, made now.
    pub fn new(thinking: impl Into<String>) -> Self {
        Self {
            thinking: thinking.into(),
            id: Id::new(),
            created_at: Timestamp::now(),
            finished_at: None,
            extra: Fields::new(),
        }
    }

    /// The block under another id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Id>) -> Self {
        self.id = id.into();
        self
    }
}

wire!(ThinkingBlock, "a thinking block", tag "thinking", {
    thinking, id = Id::new(), created_at = Timestamp::now(), finished_at = None,
});
