//! What a model answers.

use std::sync::Arc;

use super::{ChatUsage, FinishedReason};
use crate::{
    body::Body,
    fields::Fields,
    id::Id,
    message::{ContentBlock, TextBlock},
    time::Timestamp,
};

/// A model's answer: the envelope of what it streamed, or the answer itself.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChatResponse {
    /// The content: streamed as items, or held here and still to be sent.
    pub content: Body<ContentBlock>,
    /// The answer's id, the server's where it gave one.
    pub id: Id,
    /// When it was made.
    pub created_at: Timestamp,
    /// Tokens spent. `None` when the server did not say.
    pub usage: Option<ChatUsage>,
    /// Whether it is whole.
    pub finished_reason: FinishedReason,
    /// The model that answered. The core fills it in.
    pub model: Option<Arc<str>>,
    /// Further data, such as the server's own finish reason.
    pub metadata: Fields,
}

impl ChatResponse {
    /// The envelope of a call that was cut off by an interrupt.
    pub(crate) fn interrupted() -> Self {
        Self { finished_reason: FinishedReason::Interrupted, ..Self::streamed() }
    }

    /// The envelope of content that was streamed.
    pub fn streamed() -> Self {
        Self {
            content: Body::streamed(),
            id: Id::new(),
            created_at: Timestamp::now(),
            usage: None,
            finished_reason: FinishedReason::Completed,
            model: None,
            metadata: Fields::default(),
        }
    }

    /// An answer that was not streamed.
    pub fn own(content: Vec<ContentBlock>) -> Self {
        Self { content: Body::own(content), ..Self::streamed() }
    }

    /// An answer of one text that was not streamed.
    pub fn own_text(text: impl Into<String>) -> Self {
        Self::own(vec![TextBlock::new(text).into()])
    }

    /// Adds the tokens spent.
    pub fn with_usage(mut self, usage: impl Into<Option<ChatUsage>>) -> Self {
        self.usage = usage.into();
        self
    }

    /// The text of the content that is held here (all of it after `collect` or `hold`).
    pub fn text(&self) -> String {
        let blocks = self.content.blocks().iter();
        blocks.filter_map(ContentBlock::as_text).collect()
    }
}
