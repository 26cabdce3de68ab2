//! What the tests are made of: a small embedding model that counts, and a store that dies.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use cepa_core::{BoxFuture, OutputBlock, Result, TextBlock};
use cepa_models::{EmbeddingModel, Embeddings};
use cepa_rag::{
    Chunk, Collection, DocumentSummary, EmbeddedStore, Filter, Hit, KnowledgeBase, KnowledgeBaseBuilder,
    Position, RagError, Retriever as _, SearchOptions, SearchRequest, VectorRecord, VectorStore,
};

pub(crate) const DIMENSIONS: usize = 64;

/// A vector of a text's words, each of which has its place. It counts what it is asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    pub(crate) texts: Arc<AtomicUsize>,
    pub(crate) calls: Arc<AtomicUsize>,
    /// How long a call takes.
    pub(crate) takes: Duration,
}

impl Words {
    pub(crate) fn texts(&self) -> usize {
        self.texts.load(SeqCst)
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.load(SeqCst)
    }
}

impl EmbeddingModel for Words {
    fn name(&self) -> &str {
        "words"
    }

    fn dimensions(&self) -> Option<usize> {
        Some(DIMENSIONS)
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Embeddings>> {
        Box::pin(async move {
            if !self.takes.is_zero() {
                tokio::time::sleep(self.takes).await;
            }
            self.calls.fetch_add(1, SeqCst);
            self.texts.fetch_add(texts.len(), SeqCst);
            Ok(Embeddings::new(texts.iter().map(|text| vector(text)).collect())
                .with_tokens(texts.len() as u64))
        })
    }
}

fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.01; DIMENSIONS];
    for word in text.to_lowercase().split(|letter: char| !letter.is_alphanumeric()) {
        let place = word.bytes().fold(5381_usize, |hash, byte| hash.wrapping_mul(33) ^ usize::from(byte));
        vector[place % DIMENSIONS] += 1.0;
    }
    let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    vector.iter().map(|value| value / norm).collect()
}

/// A store that answers no insert after so many.
#[derive(Debug)]
pub(crate) struct Dying {
    pub(crate) store: Arc<EmbeddedStore>,
    pub(crate) inserts: AtomicUsize,
}

impl VectorStore for Dying {
    fn name(&self) -> &str {
        "dying"
    }

    fn ensure_collection<'a>(&'a self, collection: &'a Collection) -> BoxFuture<'a, Result<(), RagError>> {
        self.store.ensure_collection(collection)
    }

    fn insert<'a>(
        &'a self,
        collection: &'a Collection,
        records: Vec<VectorRecord>,
    ) -> BoxFuture<'a, Result<(), RagError>> {
        let left = self.inserts.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
        if left.is_err() {
            let died = RagError::Service {
                service: "dying".to_owned(),
                reason: "the disk is full".to_owned(),
                is_transient: false,
                source: None,
            };
            return Box::pin(async { Err(died) });
        }
        self.store.insert(collection, records)
    }

    fn delete<'a>(
        &'a self,
        collection: &'a Collection,
        document_id: &'a str,
        but_version: Option<&'a str>,
        filter: Option<&'a Filter>,
    ) -> BoxFuture<'a, Result<(), RagError>> {
        self.store.delete(collection, document_id, but_version, filter)
    }

    fn search<'a>(
        &'a self,
        collection: &'a Collection,
        request: SearchRequest<'a>,
    ) -> BoxFuture<'a, Result<Vec<Hit>, RagError>> {
        self.store.search(collection, request)
    }

    fn list_documents<'a>(
        &'a self,
        collection: &'a Collection,
        filter: Option<&'a Filter>,
    ) -> BoxFuture<'a, Result<Vec<DocumentSummary>, RagError>> {
        self.store.list_documents(collection, filter)
    }

    fn list_chunks<'a>(
        &'a self,
        collection: &'a Collection,
        document_id: &'a str,
        offset: u32,
        limit: u32,
        filter: Option<&'a Filter>,
    ) -> BoxFuture<'a, Result<Vec<Chunk>, RagError>> {
        self.store.list_chunks(collection, document_id, offset, limit, filter)
    }
}

pub(crate) fn base(store: &Arc<EmbeddedStore>) -> KnowledgeBaseBuilder {
    KnowledgeBase::builder("docs", "What is known.", store.clone())
}

pub(crate) fn in_memory() -> Arc<EmbeddedStore> {
    Arc::new(EmbeddedStore::in_memory())
}

/// A folder with these files.
pub(crate) fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, text)| write(folder.path(), name, text));
    folder
}

pub(crate) fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// What is there: each version of each document, and whether it is whole.
pub(crate) async fn documents(base: &KnowledgeBase) -> Vec<(String, bool)> {
    let mut documents: Vec<_> = base
        .list_documents()
        .await
        .unwrap()
        .iter()
        .map(|one| (one.document_id.clone(), one.is_whole()))
        .collect();
    documents.sort();
    documents
}

pub(crate) async fn found(base: &KnowledgeBase, query: &str) -> Vec<Hit> {
    search(base, query, &SearchOptions::default()).await.unwrap()
}

pub(crate) async fn search(
    base: &KnowledgeBase,
    query: &str,
    options: &SearchOptions,
) -> Result<Vec<Hit>, RagError> {
    base.search(&[OutputBlock::from(TextBlock::new(query))], options).await
}

/// A document's chunks, but for the ids and times that each block has of its own.
pub(crate) async fn chunks(base: &KnowledgeBase, id: &str) -> Vec<(u32, u32, String, Position)> {
    let chunks = base.list_chunks(id, 0, 1_000).await.unwrap();
    let own = |chunk: Chunk| {
        (chunk.chunk_index, chunk.total_chunks, chunk.text().unwrap().to_owned(), chunk.position)
    };
    chunks.into_iter().map(own).collect()
}
