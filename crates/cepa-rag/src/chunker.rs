//! [`Chunker`]: from the sections of a document to its chunks.

mod code;
mod cutter;
mod markdown;
mod table;
mod token;

use std::{fmt, sync::Arc};

pub use self::token::{TokenChunker, TokenChunkerBuilder};
use crate::{Chunk, Section};

/// Cuts the sections of one document into its chunks.
///
/// Cutting is work of the processor: it is done on a thread for it.
pub trait Chunker: fmt::Debug + Send + Sync + 'static {
    /// All chunks of the document, numbered ([`Chunk::numbered`]). None holds content of two sections; each has the
    /// source, the position and the metadata of its section.
    fn chunk(&self, sections: Vec<Section>) -> Vec<Chunk>;
}

impl<C: Chunker + ?Sized> Chunker for Arc<C> {
    fn chunk(&self, sections: Vec<Section>) -> Vec<Chunk> {
        (**self).chunk(sections)
    }
}
