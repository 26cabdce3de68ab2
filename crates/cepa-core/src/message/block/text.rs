//! [`TextBlock`].

use crate::{fields::Fields, id::Id, time::Timestamp, wire::wire};

/// Text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TextBlock {
    /// The text.
    pub text: String,
    /// The block's own id.
    pub id: Id,
    /// When the block was begun.
    pub created_at: Timestamp,
    /// When the block was complete; streaming sets it.
    pub finished_at: Option<Timestamp>,
    /// Fields that this version does not know.
    pub extra: Fields,
}

impl TextBlock {
    /// A block with a fresh id, made now.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
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

wire!(TextBlock, "a text block", tag "text", {
    text, id = Id::new(), created_at = Timestamp::now(), finished_at = None,
});
