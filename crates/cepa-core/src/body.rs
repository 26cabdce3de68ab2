//! The content of a response: sent as items, or still to be sent.

use std::sync::Arc;

/// The content of a model's or a tool's response.
///
/// Content goes out as items. A response says by its type whether its content was *streamed* (then it holds none)
/// or is *its own*: then the chain sends it as one item, so that every layer outside sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Body<B>(Repr<B>);

#[derive(Clone, Debug, PartialEq)]
enum Repr<B> {
    Streamed,
    Own(Vec<B>),
    /// A copy of what was sent, for looking at.
    Seen(Arc<Vec<B>>),
}

/// A body holds other content than what was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Changed;

impl<B> Default for Body<B> {
    fn default() -> Self {
        Self::streamed()
    }
}

impl<B> Body<B> {
    /// The content went out as items.
    pub const fn streamed() -> Self {
        Self(Repr::Streamed)
    }

    /// The content is here and has not gone out.
    pub fn own(blocks: Vec<B>) -> Self {
        Self(Repr::Own(blocks))
    }

    /// Whether the content went out as items and none is held here.
    pub fn is_streamed(&self) -> bool {
        matches!(self.0, Repr::Streamed)
    }

    /// The content that is held here: empty when it was streamed, unless `collect` or `hold` gathered it.
    pub fn blocks(&self) -> &[B] {
        match &self.0 {
            Repr::Streamed => &[],
            Repr::Own(blocks) => blocks,
            Repr::Seen(blocks) => blocks,
        }
    }
}

impl<B: Clone> Body<B> {
    /// The content, to be changed. What was gathered by `collect` has gone out already: returning it changed is an
    /// error; use `hold` for that.
    pub fn blocks_mut(&mut self) -> &mut Vec<B> {
        let blocks = match std::mem::replace(&mut self.0, Repr::Streamed) {
            Repr::Streamed => Vec::new(),
            Repr::Own(blocks) => blocks,
            Repr::Seen(blocks) => Arc::unwrap_or_clone(blocks),
        };
        self.0 = Repr::Own(blocks);
        match &mut self.0 {
            Repr::Own(blocks) => blocks,
            Repr::Streamed | Repr::Seen(_) => unreachable!("just set"),
        }
    }

    /// The content that is held here.
    pub fn into_blocks(self) -> Vec<B> {
        match self.0 {
            Repr::Streamed => Vec::new(),
            Repr::Own(blocks) => blocks,
            Repr::Seen(blocks) => Arc::unwrap_or_clone(blocks),
        }
    }

    /// Puts gathered content in. `sent`: it has gone out already.
    pub(crate) fn put(&mut self, blocks: Vec<B>, sent: bool) {
        self.0 = if sent { Repr::Seen(Arc::new(blocks)) } else { Repr::Own(blocks) };
    }

    /// Takes out what is still to be sent. `sent`: items went out beside this body.
    pub(crate) fn settle(&mut self, sent: bool) -> Result<Option<Vec<B>>, Changed> {
        match std::mem::replace(&mut self.0, Repr::Streamed) {
            Repr::Streamed => Ok(None),
            Repr::Own(_) if sent => Err(Changed),
            Repr::Seen(_) if sent => Ok(None),
            Repr::Own(blocks) => Ok(Some(blocks).filter(|blocks| !blocks.is_empty())),
            Repr::Seen(blocks) => Ok(Some(Arc::unwrap_or_clone(blocks)).filter(|blocks| !blocks.is_empty())),
        }
    }
}

impl<B> From<Vec<B>> for Body<B> {
    fn from(blocks: Vec<B>) -> Self {
        Self(Repr::Own(blocks))
    }
}
