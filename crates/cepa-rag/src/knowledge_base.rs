//! [`KnowledgeBase`]: documents under a name, in a store.

mod builder;
mod calls;
mod document;
mod embed;
mod folder;
mod fresh;
mod index;
mod report;
mod scope;
mod search;
mod version;

use std::{collections::HashMap, sync::Arc, time::Duration};

use cepa_models::EmbeddingModel;
use tokio::sync::{Mutex, OnceCell};

use self::scope::Scope;
pub use self::{
    builder::KnowledgeBaseBuilder,
    index::Index,
    report::{IndexReport, Problem, Progress},
    search::SearchBy,
};
use crate::{Chunk, Chunker, Collection, DocumentSummary, Filter, Parsers, RagError, VectorStore};

/// Documents under a name, in a collection of a store: parsed, cut, embedded, kept and found again.
///
/// It is a [`Retriever`](crate::Retriever). With an embedding model it finds by meaning, in a store that can search by
/// words by these, and with both by both. Making one costs nothing and asks nobody: the collection is made when it is
/// first needed. Clones are the same knowledge base.
///
/// **Scope.** Several knowledge bases can share a collection: each has its
/// [`metadata_filter`](KnowledgeBaseBuilder::metadata_filter), which is put on whatever it keeps and is part of whatever
/// it asks for. No search, listing or deletion leaves it.
///
/// ```no_run
/// use cepa_core::TextBlock;
/// use cepa_rag::{EmbeddedStore, KnowledgeBase, Retriever, SearchOptions};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = EmbeddedStore::open("index")?;
/// let docs = KnowledgeBase::builder("docs", "How the product is installed and used.", store).build()?;
/// let report = docs.index_folder("docs").await?;
/// println!("{report}");
/// for hit in docs.search(&[TextBlock::new("How is it installed?").into()], &SearchOptions::default()).await? {
///     println!("{}, {}: {:?}", hit.chunk.source, hit.chunk.position, hit.chunk.text());
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct KnowledgeBase {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    name: String,
    description: String,
    store: Arc<dyn VectorStore>,
    model: Option<Arc<dyn EmbeddingModel>>,
    search_by: SearchBy,
    collection_name: String,
    scope: Scope,
    parsers: Arc<Parsers>,
    chunker: Arc<dyn Chunker>,
    limits: Limits,
    /// Made when it is first needed.
    collection: OnceCell<Collection>,
    /// One run of indexing at a time.
    indexing: Mutex<()>,
}

/// How much at once, and how long.
#[derive(Clone, Copy, Debug)]
struct Limits {
    max_file_bytes: u64,
    batch_size: usize,
    concurrency: usize,
    retries: usize,
    timeout: Duration,
}

impl KnowledgeBase {
    /// A knowledge base of this name in this store, or in an [`Arc`] of one that others use too. The description tells a model what can be found here and when to
    /// look.
    pub fn builder(
        name: impl Into<String>,
        description: impl Into<String>,
        store: impl VectorStore,
    ) -> KnowledgeBaseBuilder {
        KnowledgeBaseBuilder::new(name.into(), description.into(), Arc::new(store))
    }

    /// Makes the collection, if it is not there. Everything else does so too when it has to.
    ///
    /// # Errors
    /// [`RagError::Dimensions`] where it is there for vectors of another length; what keeps the store, or a model that
    /// does not know its dimensions, from answering.
    pub async fn ensure_collection(&self) -> Result<(), RagError> {
        self.collection().await.map(drop)
    }

    /// The documents, one entry per version: more than one, or one that is not whole, is what an interrupted run of
    /// indexing has left, and the next one mends.
    ///
    /// # Errors
    /// What keeps the store from answering.
    pub async fn list_documents(&self) -> Result<Vec<DocumentSummary>, RagError> {
        let (collection, filter) = (self.collection().await?, self.inner.scope.filter(None));
        self.call(|| self.inner.store.list_documents(collection, filter.as_ref())).await
    }

    /// Chunks of a document in the order of their index: without the first `offset` of them, at most `limit`.
    ///
    /// # Errors
    /// What keeps the store from answering.
    pub async fn list_chunks(
        &self,
        document_id: &str,
        offset: u32,
        limit: u32,
    ) -> Result<Vec<Chunk>, RagError> {
        let (collection, filter) = (self.collection().await?, self.inner.scope.filter(None));
        let list = || self.inner.store.list_chunks(collection, document_id, offset, limit, filter.as_ref());
        self.call(list).await
    }

    /// Deletes a document. One that is not there is no error.
    ///
    /// # Errors
    /// What keeps the store from answering.
    pub async fn delete_document(&self, document_id: &str) -> Result<(), RagError> {
        self.delete_versions(document_id, None).await
    }

    /// Deletes all versions of a document but one.
    async fn delete_versions(&self, document_id: &str, but: Option<&str>) -> Result<(), RagError> {
        let (collection, filter) = (self.collection().await?, self.inner.scope.filter(None));
        self.call(|| self.inner.store.delete(collection, document_id, but, filter.as_ref())).await
    }

    /// What is there, by document.
    async fn known(&self) -> Result<HashMap<String, Vec<DocumentSummary>>, RagError> {
        let mut known: HashMap<String, Vec<DocumentSummary>> = HashMap::new();
        for summary in self.list_documents().await? {
            known.entry(summary.document_id.clone()).or_default().push(summary);
        }
        Ok(known)
    }

    async fn collection(&self) -> Result<&Collection, RagError> {
        let inner = &*self.inner;
        let make = || async {
            let dimensions = match &inner.model {
                None => None,
                Some(model) => match model.dimensions() {
                    Some(dimensions) => Some(dimensions),
                    // It is the first answer that tells.
                    None => {
                        let vectors = self.embed(&["onion".to_owned()]).await?.vectors;
                        vectors.first().map(Vec::len)
                    }
                },
            };
            let collection = inner.scope.indexed(Collection::new(&inner.collection_name, dimensions)?);
            self.call(|| inner.store.ensure_collection(&collection)).await?;
            Ok(collection)
        };
        inner.collection.get_or_try_init(make).await
    }
}

/// Both the scope of a knowledge base and what is asked for.
fn both(scope: Option<Filter>, filter: Option<&Filter>) -> Option<Filter> {
    match (scope, filter) {
        (Some(scope), Some(filter)) => Some(Filter::And(vec![scope, filter.clone()])),
        (scope, filter) => scope.or_else(|| filter.cloned()),
    }
}
