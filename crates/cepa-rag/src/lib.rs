//! Knowledge bases for Cepa agents: documents that an agent can search.
//!
//! A file is *parsed* into [`Section`]s, they are cut into [`Chunk`]s, these are *embedded* as vectors and put into a
//! [`VectorStore`]. A [`Retriever`] finds them again: a knowledge base, or anything else that can search.
#![forbid(unsafe_code)]

#[cfg(feature = "chroma")]
mod chroma;
mod chunker;
mod document;
mod error;
mod filter;
mod metadata;
mod parser;
#[cfg(feature = "pgvector")]
mod pgvector;
mod position;
#[cfg(feature = "qdrant")]
mod qdrant;
#[cfg(any(feature = "chroma", feature = "pgvector", feature = "qdrant"))]
mod remote;
mod retriever;
mod store;
#[doc(hidden)]
pub mod texts;

#[cfg(feature = "chroma")]
pub use self::chroma::{ChromaStore, ChromaStoreBuilder};
#[cfg(feature = "pgvector")]
pub use self::pgvector::{PgVectorStore, PgVectorStoreBuilder};
#[cfg(feature = "qdrant")]
pub use self::qdrant::{QdrantStore, QdrantStoreBuilder};
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
