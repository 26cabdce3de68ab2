//! Keeping one document.

use cepa_core::Id;

use super::{KnowledgeBase, version::Fingerprint};
use crate::{Chunk, RagError, VectorRecord};

/// What keeping a document took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kept {
    pub(super) chunks: usize,
    pub(super) tokens: u64,
}

impl KnowledgeBase {
    /// Embeds and keeps the chunks of one document, which you have made; [`index`](Self::index) makes them of files. A
    /// document of the same id is replaced. Without an id it gets a new one. Returns the id.
    ///
    /// # Errors
    /// [`RagError::Unsupported`] for a chunk that is no text; what keeps the model or the store from answering: some
    /// chunks may be kept then, and the same call again keeps the others.
    pub async fn insert_document(
        &self,
        mut chunks: Vec<Chunk>,
        document_id: impl Into<Option<String>>,
    ) -> Result<String, RagError> {
        let given = document_id.into();
        let id = given.clone().unwrap_or_else(|| Id::new().to_string());
        self.inner.scope.force(&mut chunks);
        let version = Fingerprint::of(&self.inner, false).chunks(&chunks);
        self.keep(&id, &version, Chunk::numbered(chunks), |_| {}).await?;
        if given.is_some() {
            self.delete_versions(&id, Some(&version)).await?;
        }
        Ok(id)
    }

    /// Embeds and keeps chunks, one batch after the other, and tells of each.
    pub(super) async fn keep(
        &self,
        document_id: &str,
        version: &str,
        mut chunks: Vec<Chunk>,
        on_batch: impl Fn(usize) + Send,
    ) -> Result<Kept, RagError> {
        self.inner.scope.force(&mut chunks);
        if let Some(other) = chunks.iter().find(|chunk| chunk.text().is_none()) {
            return Err(RagError::Unsupported {
                store: format!("knowledge base `{}`", self.inner.name),
                reason: format!(
                    "chunk {} of {} is no text, and only texts are embedded",
                    other.chunk_index, other.source
                ),
            });
        }
        let collection = self.collection().await?;
        let mut kept = Kept::default();
        let mut chunks = chunks.into_iter();
        loop {
            let batch: Vec<Chunk> = chunks.by_ref().take(self.inner.limits.batch_size).collect();
            if batch.is_empty() {
                return Ok(kept);
            }
            let texts: Vec<String> = batch.iter().filter_map(Chunk::text).map(str::to_owned).collect();
            let embeddings = self.embed(&texts).await?;
            kept.tokens += embeddings.tokens.unwrap_or_default();
            let mut vectors = embeddings.vectors.into_iter();
            let mut records: Vec<VectorRecord> = batch
                .into_iter()
                .map(|chunk| VectorRecord::new(document_id, version, chunk, vectors.next()))
                .collect();
            let count = records.len();
            let mut tries = 0;
            let insert = || {
                tries += 1;
                // The last try needs no copy for another one.
                let is_last = tries > self.inner.limits.retries;
                let records = if is_last { std::mem::take(&mut records) } else { records.clone() };
                self.inner.store.insert(collection, records)
            };
            self.call(insert).await?;
            kept.chunks += count;
            on_batch(count);
        }
    }
}
