//! Setting up a knowledge base.

use std::{fmt::Write as _, sync::Arc, time::Duration};

use cepa_models::EmbeddingModel;
use sha2::{Digest as _, Sha256};
use tokio::sync::{Mutex, OnceCell};

use super::{Inner, KnowledgeBase, Limits, SearchBy, scope::Scope};
use crate::{Chunker, Collection, Metadata, MetadataValue, Parsers, RagError, TokenChunker, VectorStore};

/// So many digits of a hash tell names apart.
const HASH: usize = 12;

/// Sets up a [`KnowledgeBase`].
#[derive(Debug)]
#[must_use = "a builder does nothing until `.build()`"]
pub struct KnowledgeBaseBuilder {
    name: String,
    description: String,
    store: Arc<dyn VectorStore>,
    model: Option<Arc<dyn EmbeddingModel>>,
    search_by: Option<SearchBy>,
    collection: Option<String>,
    scope: Metadata,
    parsers: Arc<Parsers>,
    chunker: Arc<dyn Chunker>,
    limits: Limits,
}

impl KnowledgeBaseBuilder {
    pub(super) fn new(name: String, description: String, store: Arc<dyn VectorStore>) -> Self {
        Self {
            name,
            description,
            store,
            model: None,
            search_by: None,
            collection: None,
            scope: Metadata::new(),
            parsers: Arc::new(Parsers::default()),
            chunker: Arc::new(TokenChunker::default()),
            limits: Limits {
                max_file_bytes: 64 << 20,
                batch_size: 64,
                concurrency: 4,
                retries: 2,
                timeout: Duration::from_secs(120),
            },
        }
    }

    /// The model that texts and questions are embedded with, or an [`Arc`] of it. Without one, only words are searched, in a store that can.
    pub fn embedding_model(mut self, model: impl EmbeddingModel) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// How it is searched. By both meaning and words by default, where there is a model and the store can; by the one
    /// that there is otherwise.
    ///
    /// Both is not always best. Words find names, numbers and error texts that vectors blur; for questions in whole
    /// sentences meaning alone found more: of 567 questions of FAQs the answer was among the first five for 0.87 by
    /// [`SearchBy::Vector`], 0.80 by both and 0.64 by words (`cargo xtask bench retrieval`). Measure with your own.
    pub fn search_by(mut self, search_by: SearchBy) -> Self {
        self.search_by = Some(search_by);
        self
    }

    /// The collection of the store. By default the name, if it can be that of a collection: 3 to 63 letters, digits, `_`
    /// and `-`. Otherwise what can be of it, and a hash of all of it: `FAQ-1-…` for `FAQ 1`.
    pub fn collection(mut self, name: impl Into<String>) -> Self {
        self.collection = Some(name.into());
        self
    }

    /// A value that marks what belongs to this knowledge base where others share its collection. It is put on all that
    /// is kept, over whatever a document says of itself, and nothing without it is found, listed or deleted.
    pub fn metadata_filter(mut self, key: impl Into<String>, value: impl Into<MetadataValue>) -> Self {
        self.scope.insert(key.into(), value.into());
        self
    }

    /// What reads files. By default all that the crate's features have.
    pub fn parsers(mut self, parsers: Parsers) -> Self {
        self.parsers = Arc::new(parsers);
        self
    }

    /// What cuts documents. By default a [`TokenChunker`].
    ///
    /// A chunker that prints differently (`{:?}`) makes all documents be cut and embedded again.
    pub fn chunker(mut self, chunker: impl Chunker) -> Self {
        self.chunker = Arc::new(chunker);
        self
    }

    /// The largest file that is read, in bytes; a larger one is a problem of its own, and is not opened. 64 MiB by
    /// default.
    pub fn max_file_bytes(mut self, bytes: u64) -> Self {
        self.limits.max_file_bytes = bytes;
        self
    }

    /// How many chunks are embedded and kept at once. 64 by default.
    pub fn batch_size(mut self, chunks: usize) -> Self {
        self.limits.batch_size = chunks;
        self
    }

    /// How many documents are worked on at once; each may be in memory. 4 by default.
    pub fn concurrency(mut self, documents: usize) -> Self {
        self.limits.concurrency = documents;
        self
    }

    /// How often a call of the store or the model that failed, but may succeed later, is made again, beside what they do
    /// themselves. 2 by default.
    pub fn max_retries(mut self, retries: usize) -> Self {
        self.limits.retries = retries;
        self
    }

    /// How long one call of the store or the model may take, and reading and cutting one file. Two minutes by default.
    ///
    /// A file that takes longer is a problem of its own. Its parser cannot be stopped: the thread goes on with it, beside
    /// those of the [`concurrency`](Self::concurrency), until it is done.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.limits.timeout = limit;
        self
    }

    /// Checks the settings. Nothing is asked.
    ///
    /// # Errors
    /// [`RagError::Settings`] with what is wrong.
    pub fn build(self) -> Result<KnowledgeBase, RagError> {
        let wrong = |reason: String| Err(RagError::Settings(reason));
        if self.name.trim().is_empty() {
            return wrong("a knowledge base needs a name: a model chooses it by that".to_owned());
        }
        let name = &self.name;
        let counts = [("batch_size", self.limits.batch_size), ("concurrency", self.limits.concurrency)];
        if let Some((setting, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return wrong(format!("`{setting}` of knowledge base `{name}` must be at least 1"));
        }
        if self.limits.timeout.is_zero() {
            return wrong(format!("`timeout` of knowledge base `{name}` must be longer than zero"));
        }
        let (has_model, has_keywords) = (self.model.is_some(), self.store.has_keywords());
        let search_by = match (self.search_by, has_model, has_keywords) {
            (None, true, true) => SearchBy::Hybrid,
            (None, true, false) => SearchBy::Vector,
            (None, false, true) => SearchBy::Keywords,
            (None | Some(_), false, false) => {
                return wrong(format!(
                    "knowledge base `{name}` can find nothing: {} cannot search by words, so call \
                     `.embedding_model(…)`",
                    self.store.name()
                ));
            }
            (Some(SearchBy::Vector | SearchBy::Hybrid), false, true) => {
                return wrong(format!("knowledge base `{name}` has no vectors: call `.embedding_model(…)`"));
            }
            (Some(SearchBy::Keywords | SearchBy::Hybrid), true, false) => {
                return wrong(format!(
                    "knowledge base `{name}` cannot search by words: {} does not; take `SearchBy::Vector`",
                    self.store.name()
                ));
            }
            (Some(search_by), _, _) => search_by,
        };
        let collection_name = self.collection.unwrap_or_else(|| collection_of(name));
        // A name that no store takes is found out here.
        Collection::new(&collection_name, None)?;
        Ok(KnowledgeBase {
            inner: Arc::new(Inner {
                name: self.name,
                description: self.description,
                store: self.store,
                model: self.model,
                search_by,
                collection_name,
                scope: Scope(self.scope),
                parsers: self.parsers,
                chunker: self.chunker,
                limits: self.limits,
                collection: OnceCell::new(),
                indexing: Mutex::new(()),
            }),
        })
    }
}

/// The name, if a store takes it; otherwise what a store takes of it, and a hash of all of it, so that no two names
/// have one collection.
fn collection_of(name: &str) -> String {
    if Collection::new(name, None).is_ok() {
        return name.to_owned();
    }
    let taken = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    // With a `-` and the hash it is no longer than a name may be.
    let start: String =
        name.chars().map(|letter| if taken(letter) { letter } else { '-' }).take(63 - 1 - HASH).collect();
    let start = start.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
    let start = if start.is_empty() { "kb" } else { start };
    let hash = Sha256::digest(name).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    format!("{start}-{}", &hash[..HASH])
}
