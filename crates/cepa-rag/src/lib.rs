//! Knowledge bases for Cepa agents: documents that an agent can search.
//!
//! A file is *parsed* into [`Section`]s, they are cut into [`Chunk`]s, these are *embedded* as vectors and put into a
//! [`VectorStore`]. A [`Retriever`] finds them again: a knowledge base, or anything else that can search.
#![forbid(unsafe_code)]

mod chunker;
mod document;
#[cfg(feature = "embedded")]
#[doc(hidden)]
pub mod embedded;
mod error;
mod filter;
mod metadata;
mod parser;
mod position;
mod retriever;
mod store;
#[doc(hidden)]
pub mod texts;

#[cfg(feature = "embedded")]
pub use self::embedded::EmbeddedStore;
pub use self::{
    chunker::Chunker,
    document::{Chunk, Section, SectionKind},
    error::RagError,
    filter::Filter,
    metadata::{Metadata, MetadataKind, MetadataValue},
    parser::{File, Parsed, Parser},
    position::Position,
    retriever::{Hit, Retriever, SearchOptions},
    store::{Collection, DocumentSummary, SearchRequest, VectorRecord, VectorStore},
};
