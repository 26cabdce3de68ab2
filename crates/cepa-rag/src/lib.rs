//! Knowledge bases for Cepa agents: documents that an agent can search.
//!
//! A file is *parsed* into [`Section`]s, they are cut into [`Chunk`]s, these are *embedded* as vectors and put into a
//! [`VectorStore`]. A [`Retriever`] finds them again: a knowledge base, or anything else that can search.
#![forbid(unsafe_code)]

mod chunker;
mod document;
mod error;
mod filter;
mod metadata;
mod parser;
mod position;
mod retriever;
mod store;
#[doc(hidden)]
pub mod texts;

#[cfg(feature = "html")]
pub use self::parser::HtmlParser;
#[cfg(feature = "pdf")]
pub use self::parser::PdfParser;
#[cfg(feature = "office")]
pub use self::parser::{ExcelParser, PowerPointParser, WordParser};
pub use self::{
    chunker::{Chunker, TokenChunker, TokenChunkerBuilder},
    document::{Chunk, Section, SectionKind},
    error::RagError,
    filter::Filter,
    metadata::{Metadata, MetadataKind, MetadataValue},
    parser::{CodeParser, CsvParser, File, ImageParser, MarkdownParser, Parsed, Parser, Parsers, TextParser},
    position::Position,
    retriever::{Hit, Retriever, SearchOptions},
    store::{Collection, DocumentSummary, SearchRequest, VectorRecord, VectorStore},
};
