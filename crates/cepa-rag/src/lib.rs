//! Knowledge bases for Cepa agents: documents that an agent can search.
//!
//! A file is *parsed* into [`Section`]s, they are cut into [`Chunk`]s, these are *embedded* as vectors and put into a
//! [`VectorStore`]. A [`Retriever`] finds them again: a knowledge base, or anything else that can search.
#![forbid(unsafe_code)]

mod asker;
mod cached_embedding;
#[cfg(feature = "chroma")]
mod chroma;
mod chunker;
mod document;
#[cfg(feature = "embedded")]
#[doc(hidden)]
pub mod embedded;
mod error;
mod filter;
mod fusion;
mod knowledge_base;
mod metadata;
mod middleware;
mod parser;
mod passages;
#[cfg(feature = "pgvector")]
mod pgvector;
mod position;
#[cfg(feature = "qdrant")]
mod qdrant;
#[cfg(any(feature = "chroma", feature = "pgvector", feature = "qdrant"))]
mod remote;
mod rerank;
mod retriever;
mod search;
mod store;
#[doc(hidden)]
pub mod texts;
mod tool;
mod turn;

#[cfg(feature = "chroma")]
pub use self::chroma::{ChromaStore, ChromaStoreBuilder};
#[cfg(feature = "embedded")]
pub use self::embedded::EmbeddedStore;
#[cfg(feature = "html")]
pub use self::parser::HtmlParser;
#[cfg(feature = "pdf")]
pub use self::parser::PdfParser;
#[cfg(feature = "office")]
pub use self::parser::{ExcelParser, PowerPointParser, WordParser};
#[cfg(feature = "pgvector")]
pub use self::pgvector::{PgVectorStore, PgVectorStoreBuilder};
#[cfg(feature = "qdrant")]
pub use self::qdrant::{QdrantStore, QdrantStoreBuilder};
pub use self::{
    cached_embedding::CachedEmbedding,
    chunker::{Chunker, TokenChunker, TokenChunkerBuilder},
    document::{Chunk, Section, SectionKind},
    error::RagError,
    filter::Filter,
    knowledge_base::{Index, IndexReport, KnowledgeBase, KnowledgeBaseBuilder, Problem, Progress, SearchBy},
    metadata::{Metadata, MetadataKind, MetadataValue},
    middleware::{RagMiddleware, RagMiddlewareBuilder, RagMode},
    parser::{CodeParser, CsvParser, File, ImageParser, MarkdownParser, Parsed, Parser, Parsers, TextParser},
    position::Position,
    retriever::{Hit, Retriever, SearchOptions},
    store::{Collection, DocumentSummary, SearchRequest, VectorRecord, VectorStore},
};
