//! [`CachedEmbedding`]: an embedding model that remembers on disk.

mod file;
mod key;

use std::{
    fmt,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use cepa_core::{BoxFuture, Result};
use cepa_models::{EmbeddingModel, Embeddings};

use self::{
    file::CacheFile,
    key::{Key, key},
};
use crate::RagError;

/// An embedding model whose answers are kept in a file, so that no text is embedded twice: not after a crash, not by
/// another program, not for another collection.
///
/// An answer belongs to the model's name, its dimensions and the text; models of one name must be the same model. Any
/// number of processes can share the folder. The file is only added to; what a crash has cut off, or what is damaged, is
/// noticed by its checksum and made again; an answer that is no vector is not kept. When the file reaches [its limit](Self::with_max_bytes) it is begun anew. A
/// cache that cannot be read or written costs its help and a line in the log, and no answer.
///
/// ```no_run
/// use cepa_models::OpenAiEmbedding;
/// use cepa_rag::CachedEmbedding;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = OpenAiEmbedding::from_env("text-embedding-3-small")?;
/// let model = CachedEmbedding::new(model, "cache/embeddings")?;
/// # let _ = model; Ok(()) }
/// ```
#[derive(Clone)]
pub struct CachedEmbedding {
    model: Arc<dyn EmbeddingModel>,
    file: Arc<Mutex<CacheFile>>,
    max_bytes: u64,
    found: Arc<AtomicU64>,
}

impl fmt::Debug for CachedEmbedding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedEmbedding").field("model", &self.model).finish_non_exhaustive()
    }
}

impl CachedEmbedding {
    /// This model, or an [`Arc`] of it, with a cache in this folder, which is made if it is not there.
    ///
    /// # Errors
    /// [`RagError::Io`] when the folder cannot be made.
    pub fn new(model: impl EmbeddingModel, folder: impl AsRef<Path>) -> Result<Self, RagError> {
        let folder = folder.as_ref();
        std::fs::create_dir_all(folder).map_err(|error| RagError::io(folder, error))?;
        let file = Arc::new(Mutex::new(CacheFile::new(folder)));
        Ok(Self { model: Arc::new(model), file, max_bytes: 1 << 30, found: Arc::default() })
    }

    /// The largest file, in bytes. 1 GiB by default: 650 000 vectors of 384 dimensions, 170 000 of 1 536.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// How many texts did not have to be embedded since this was made.
    pub fn found(&self) -> u64 {
        self.found.load(Relaxed)
    }

    /// Works with the file on a thread for it. What goes wrong is logged.
    async fn with_file<R: Default + Send + 'static>(
        &self,
        work: impl FnOnce(&mut CacheFile) -> std::io::Result<R> + Send + 'static,
    ) -> R {
        let file = self.file.clone();
        let work = move || work(&mut file.lock().unwrap_or_else(PoisonError::into_inner));
        match tokio::task::spawn_blocking(work).await {
            Ok(Ok(done)) => done,
            Ok(Err(error)) => {
                tracing::warn!(%error, "the cache of embeddings does not help");
                R::default()
            }
            Err(error) => {
                tracing::warn!(%error, "the cache of embeddings failed");
                R::default()
            }
        }
    }
}

impl EmbeddingModel for CachedEmbedding {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn dimensions(&self) -> Option<usize> {
        self.model.dimensions()
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Embeddings>> {
        Box::pin(async move {
            if texts.is_empty() {
                return self.model.embed(texts).await;
            }
            let dimensions = self.model.dimensions();
            let keys: Vec<Key> = texts.iter().map(|text| key(self.model.name(), dimensions, text)).collect();
            let asked = keys.clone();
            let mut found = self.with_file(move |file| file.read(&asked)).await;
            found.resize_with(texts.len(), || None);
            let missing: Vec<usize> = (0..texts.len()).filter(|&at| found[at].is_none()).collect();
            self.found.fetch_add((texts.len() - missing.len()) as u64, Relaxed);
            let mut all = Embeddings::default().with_tokens(0);
            if !missing.is_empty() {
                let texts: Vec<String> = missing.iter().map(|&at| texts[at].clone()).collect();
                let made = self.model.embed(&texts).await?;
                if made.vectors.len() != missing.len() {
                    // Which text is which cannot be told. Whoever asked sees it by the number.
                    return Ok(made);
                }
                all.tokens = made.tokens;
                let others = found.iter().flatten().chain(&made.vectors).map(Vec::len);
                if are_right(&made.vectors, dimensions.into_iter().chain(others).next()) {
                    let new: Vec<(Key, Vec<f32>)> =
                        missing.iter().map(|&at| keys[at]).zip(made.vectors.iter().cloned()).collect();
                    let max_bytes = self.max_bytes;
                    self.with_file(move |file| file.add(&new, max_bytes)).await;
                } else {
                    tracing::warn!(
                        model = self.model.name(),
                        "vectors of other lengths or with something that is no finite number are not kept"
                    );
                }
                for (at, vector) in missing.into_iter().zip(made.vectors) {
                    found[at] = Some(vector);
                }
            }
            all.vectors = found.into_iter().flatten().collect();
            Ok(all)
        })
    }
}

/// Whether these are what a model should answer: numbers, and as many as all others have. Whoever asked sees what is not,
/// and would see it forever, were it kept.
fn are_right(vectors: &[Vec<f32>], dimensions: Option<usize>) -> bool {
    vectors.iter().all(|vector| {
        !vector.is_empty()
            && dimensions.is_none_or(|dimensions| vector.len() == dimensions)
            && vector.iter().all(|value| value.is_finite())
    })
}
