//! Knowledge bases for Cepa agents: documents that an agent can search.
//!
//! A file is *parsed* into [`Section`]s, they are cut into [`Chunk`]s, these are *embedded* as vectors and put into a
//! [`VectorStore`]. A [`Retriever`] finds them again: a knowledge base, or anything else that can search.
//! [`RagMiddleware`] is the layer by which an agent has it, or several of them.
//!
//! Layers see what others do: here the outer one counts every model call, those of a chat model that reranks among
//! them.
//!
//! ```
//! use std::sync::{Arc, atomic::{AtomicU32, Ordering}};
//! use cepa_core::{Agent, BoxFuture, ModelRequest, OutputBlock, TextBlock, on_model_call};
//! use cepa_core::{serde_json::json, testing::{Answer, ScriptedModel}};
//! use cepa_rag::{Chunk, Hit, RagError, RagMiddleware, Retriever, SearchOptions};
//!
//! /// A search service of your own; a knowledge base is used in the same way.
//! #[derive(Debug)]
//! struct Botany;
//!
//! impl Retriever for Botany {
//!     fn name(&self) -> &str {
//!         "botany"
//!     }
//!     fn description(&self) -> &str {
//!         "Plants, and what people eat of them."
//!     }
//!     fn search<'a>(
//!         &'a self,
//!         _queries: &'a [OutputBlock],
//!         _options: &'a SearchOptions,
//!     ) -> BoxFuture<'a, Result<Vec<Hit>, RagError>> {
//!         let texts = ["Leeks are eaten in soups.", "Allium cepa is the onion."];
//!         let hit = |text| Hit::new(0.5, "botany", Chunk::new("botany.txt", TextBlock::new(text)));
//!         Box::pin(async move { Ok(texts.map(hit).to_vec()) })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let calls = Arc::new(AtomicU32::new(0));
//! let counted = calls.clone();
//! let counting = on_model_call(move |_cx, request: ModelRequest, next| {
//!     counted.fetch_add(1, Ordering::Relaxed);
//!     next.run(request)
//! });
//! # let small_model =
//! #     ScriptedModel::new([Answer::new().tool_call("generate_structured_output", json!({"ids": ["c2"]}))]);
//! # let search = Answer::new().tool_call("search_knowledge", json!({"query": "What is Allium cepa?"}));
//! # let model = ScriptedModel::new([search, Answer::new().text("The onion [1].")]);
//! let mut agent = Agent::builder("Friday")
//!     .model(model.clone())
//!     .middleware(counting)
//!     .middleware(RagMiddleware::builder([Botany]).top_k(1).rerank_model(small_model).build()?)
//!     .build()?;
//! let answer = agent.reply("What is Allium cepa?").await?; // the model calls `search_knowledge` first
//! assert_eq!(answer.text().as_deref(), Some("The onion [1]."));
//! assert_eq!(calls.load(Ordering::Relaxed), 3); // two rounds, and reranking
//! assert!(agent.save()?.contains("[1] (source: botany.txt)\\nAllium cepa is the onion."));
//! # Ok(()) }
//! ```
#![forbid(unsafe_code)]

mod asker;
mod cached_embedding;
#[cfg(feature = "chroma")]
mod chroma;
mod chunker;
mod document;
// Its kernels are public for this repository's benchmarks and tests alone: they are no part of the API and may change.
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
#[cfg(any(feature = "chroma", feature = "embedded", feature = "pgvector", feature = "qdrant"))]
mod unit;

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
