//! [`VectorStore`]: where chunks are kept and found.

use std::{fmt, sync::Arc};

use cepa_core::BoxFuture;

use crate::{Chunk, Filter, Hit, Metadata, MetadataKind, RagError};

/// Where the chunks of knowledge bases are kept and found. One store serves any number of knowledge bases, each in a
/// collection of its own.
///
/// Scores are cosine similarities, from -1 to 1, in every store; those of a search by words alone are BM25's, from 0.
///
/// **Versions.** Chunks of a document carry its version (a hash of its content, as a rule). To replace a document, the
/// new version is inserted and then the others are deleted. A crash in between leaves two versions, or a version
/// with fewer chunks than it should have; [`list_documents`](Self::list_documents) shows both, and the next run
/// mends it.
pub trait VectorStore: fmt::Debug + Send + Sync + 'static {
    /// What it is, for errors: `qdrant`.
    fn name(&self) -> &str;

    /// Whether it can search by words. Default: no.
    fn has_keywords(&self) -> bool {
        false
    }

    /// Makes the collection if it is not there. Safe under a race: whoever comes second finds it.
    ///
    /// # Errors
    /// [`RagError::Dimensions`] where it is there with other dimensions; what keeps the store from answering.
    fn ensure_collection<'a>(&'a self, collection: &'a Collection) -> BoxFuture<'a, Result<(), RagError>>;

    /// Keeps these records; one that is there already (same document, version and index) is replaced. When it returns,
    /// they are safe and can be found.
    ///
    /// # Errors
    /// [`RagError::Dimensions`] for vectors of another length, before any is kept; what keeps the store from
    /// answering, when some may have been kept.
    fn insert<'a>(
        &'a self,
        collection: &'a Collection,
        records: Vec<VectorRecord>,
    ) -> BoxFuture<'a, Result<(), RagError>>;

    /// Deletes the chunks of a document that pass the filter, but for those of one version, if one is named.
    ///
    /// # Errors
    /// What keeps the store from answering.
    fn delete<'a>(
        &'a self,
        collection: &'a Collection,
        document_id: &'a str,
        but_version: Option<&'a str>,
        filter: Option<&'a Filter>,
    ) -> BoxFuture<'a, Result<(), RagError>>;

    /// Finds chunks, the best first.
    ///
    /// # Errors
    /// [`RagError::Unsupported`] for what this store cannot do, with the reason; [`RagError::Dimensions`]; what keeps
    /// the store from answering.
    fn search<'a>(
        &'a self,
        collection: &'a Collection,
        request: SearchRequest<'a>,
    ) -> BoxFuture<'a, Result<Vec<Hit>, RagError>>;

    /// The documents with chunks that pass the filter, one entry per version, in no special order.
    ///
    /// # Errors
    /// What keeps the store from answering.
    fn list_documents<'a>(
        &'a self,
        collection: &'a Collection,
        filter: Option<&'a Filter>,
    ) -> BoxFuture<'a, Result<Vec<DocumentSummary>, RagError>>;

    /// Chunks of a document that pass the filter, in the order of their index: without the first `offset` of them, at
    /// most `limit`.
    ///
    /// # Errors
    /// What keeps the store from answering.
    fn list_chunks<'a>(
        &'a self,
        collection: &'a Collection,
        document_id: &'a str,
        offset: u32,
        limit: u32,
        filter: Option<&'a Filter>,
    ) -> BoxFuture<'a, Result<Vec<Chunk>, RagError>>;
}

impl<S: VectorStore + ?Sized> VectorStore for Arc<S> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn has_keywords(&self) -> bool {
        (**self).has_keywords()
    }

    fn ensure_collection<'a>(&'a self, collection: &'a Collection) -> BoxFuture<'a, Result<(), RagError>> {
        (**self).ensure_collection(collection)
    }

    fn insert<'a>(
        &'a self,
        collection: &'a Collection,
        records: Vec<VectorRecord>,
    ) -> BoxFuture<'a, Result<(), RagError>> {
        (**self).insert(collection, records)
    }

    fn delete<'a>(
        &'a self,
        collection: &'a Collection,
        document_id: &'a str,
        but_version: Option<&'a str>,
        filter: Option<&'a Filter>,
    ) -> BoxFuture<'a, Result<(), RagError>> {
        (**self).delete(collection, document_id, but_version, filter)
    }

    fn search<'a>(
        &'a self,
        collection: &'a Collection,
        request: SearchRequest<'a>,
    ) -> BoxFuture<'a, Result<Vec<Hit>, RagError>> {
        (**self).search(collection, request)
    }

    fn list_documents<'a>(
        &'a self,
        collection: &'a Collection,
        filter: Option<&'a Filter>,
    ) -> BoxFuture<'a, Result<Vec<DocumentSummary>, RagError>> {
        (**self).list_documents(collection, filter)
    }

    fn list_chunks<'a>(
        &'a self,
        collection: &'a Collection,
        document_id: &'a str,
        offset: u32,
        limit: u32,
        filter: Option<&'a Filter>,
    ) -> BoxFuture<'a, Result<Vec<Chunk>, RagError>> {
        (**self).list_chunks(collection, document_id, offset, limit, filter)
    }
}

/// A collection of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collection {
    pub(crate) name: String,
    pub(crate) dimensions: Option<usize>,
    pub(crate) indexed: Vec<(String, MetadataKind)>,
}

impl Collection {
    /// A collection of this name.
    ///
    /// # Errors
    /// [`RagError::Settings`] for a name that some store could not take, or for vectors without length.
    pub fn new(name: impl Into<String>, dimensions: impl Into<Option<usize>>) -> Result<Self, RagError> {
        let (name, dimensions) = (name.into(), dimensions.into());
        let letter = |byte: &u8| byte.is_ascii_alphanumeric();
        let fits = (3..=63).contains(&name.len())
            && name.bytes().all(|byte| letter(&byte) || matches!(byte, b'_' | b'-'))
            && name.as_bytes().first().is_some_and(letter)
            && name.as_bytes().last().is_some_and(letter);
        if !fits {
            return Err(RagError::Settings(format!(
                "`{name}` is no name of a collection: take 3 to 63 letters, digits, `_` and `-`, with a letter or \
                 digit at both ends"
            )));
        }
        if dimensions == Some(0) {
            return Err(RagError::Settings(format!("the vectors of collection `{name}` have no dimensions")));
        }
        Ok(Self { name, dimensions, indexed: Vec::new() })
    }

    /// Its name: letters, digits, `_` and `-`, from 3 to 63 characters, beginning and ending with a letter or digit. It
    /// can stand in a path, a URL and, between quotes, in SQL.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How long its vectors are; `None` where there are none, and only words are searched.
    pub fn dimensions(&self) -> Option<usize> {
        self.dimensions
    }

    /// Metadata that filters ask for often: the store makes indexes of them, if it can.
    pub fn indexed(&self) -> &[(String, MetadataKind)] {
        &self.indexed
    }

    /// With an index of these metadata, where the store makes some.
    pub fn with_index(mut self, field: impl Into<String>, kind: MetadataKind) -> Self {
        self.indexed.push((field.into(), kind));
        self
    }
}

/// A chunk as it is kept.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct VectorRecord {
    /// The document.
    pub document_id: String,
    /// Which content of the document this is: a hash, as a rule.
    pub version: String,
    /// The chunk.
    pub chunk: Chunk,
    /// Its vector. `None` in a collection without vectors.
    pub vector: Option<Vec<f32>>,
}

impl VectorRecord {
    /// This chunk of this version of a document.
    pub fn new(
        document_id: impl Into<String>,
        version: impl Into<String>,
        chunk: Chunk,
        vector: impl Into<Option<Vec<f32>>>,
    ) -> Self {
        Self { document_id: document_id.into(), version: version.into(), chunk, vector: vector.into() }
    }
}

/// What is looked for in a store: by a vector, by words, or by both.
///
/// With both, the two orders are fused by rank, and a threshold is refused: fused scores have no scale of their own.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SearchRequest<'a> {
    /// The query's vector.
    pub vector: Option<&'a [f32]>,
    /// The query's words.
    pub text: Option<&'a str>,
    /// The most hits.
    pub top_k: usize,
    /// The least score: a cosine similarity with a vector, BM25's with words.
    pub score_threshold: Option<f32>,
    /// Which chunks may be found.
    pub filter: Option<&'a Filter>,
}

impl<'a> SearchRequest<'a> {
    /// By a vector.
    pub fn vector(vector: &'a [f32], top_k: usize) -> Self {
        Self { vector: Some(vector), text: None, top_k, score_threshold: None, filter: None }
    }

    /// By words.
    pub fn text(text: &'a str, top_k: usize) -> Self {
        Self { vector: None, text: Some(text), top_k, score_threshold: None, filter: None }
    }

    /// By both.
    pub fn hybrid(vector: &'a [f32], text: &'a str, top_k: usize) -> Self {
        Self { vector: Some(vector), text: Some(text), top_k, score_threshold: None, filter: None }
    }

    /// None below this score.
    pub fn with_score_threshold(mut self, score_threshold: impl Into<Option<f32>>) -> Self {
        self.score_threshold = score_threshold.into();
        self
    }

    /// Only chunks that pass this filter.
    pub fn with_filter(mut self, filter: impl Into<Option<&'a Filter>>) -> Self {
        self.filter = filter.into();
        self
    }
}

/// A document of a collection, in one version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DocumentSummary {
    /// The document.
    pub document_id: String,
    /// The file, as citations name it.
    pub source: String,
    /// Which content of the document this is.
    pub version: String,
    /// How many chunks are there.
    pub chunk_count: u32,
    /// How many chunks there should be.
    pub total_chunks: u32,
    /// What is known of one of its chunks.
    pub metadata: Metadata,
}

impl DocumentSummary {
    /// A version of a document of which so many of all chunks are there.
    pub fn new(
        document_id: impl Into<String>,
        source: impl Into<String>,
        version: impl Into<String>,
        chunk_count: u32,
        total_chunks: u32,
    ) -> Self {
        Self {
            document_id: document_id.into(),
            source: source.into(),
            version: version.into(),
            chunk_count,
            total_chunks,
            metadata: Metadata::new(),
        }
    }

    /// Of which this is known.
    pub fn with_metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// Whether all its chunks are there.
    pub fn is_whole(&self) -> bool {
        self.chunk_count == self.total_chunks
    }
}
