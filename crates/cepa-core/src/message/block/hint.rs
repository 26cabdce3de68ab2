//! [`HintBlock`].

use super::HintContent;
use crate::{fields::Fields, id::Id, time::Timestamp, wire::wire};

/// Instructions put in while the agent works; models see them as a user's message.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HintBlock {
    /// What the hint says.
    pub hint: HintContent,
    /// The block's own id.
    pub id: Id,
    /// Who or what gave the hint, such as another agent's name.
    pub source: Option<String>,
    /// When the block was made.
    pub created_at: Timestamp,
    /// When the block was complete: at once, since hints are not streamed.
    pub finished_at: Option<Timestamp>,
    /// Fields that this version does not know.
    pub extra: Fields,
}

impl HintBlock {
    /// A hint with a fresh id, made and finished now.
    pub fn new(hint: impl Into<HintContent>) -> Self {
        let now = Timestamp::now();
        Self {
            hint: hint.into(),
            id: Id::new(),
            source: None,
            created_at: now.clone(),
            finished_at: Some(now),
            extra: Fields::new(),
        }
    }

    /// The hint under another id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Id>) -> Self {
        self.id = id.into();
        self
    }

    /// The hint with the one who gave it.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.source = Some(source.into());
        self
    }
}

wire!(HintBlock, "a hint block", tag "hint", {
    hint,
    id = Id::new(),
    source = None,
    created_at = Timestamp::now(),
    finished_at = Some(Timestamp::now()),
});
