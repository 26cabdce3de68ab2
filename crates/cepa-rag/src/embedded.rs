//! [`EmbeddedStore`]: a store inside the program, in a folder or in memory.

mod best;
mod entry;
mod fusion;
mod kernel;
mod keywords;
mod log;
mod opened;
mod quantised;
mod state;
mod vectors;
mod words;

use std::{
    collections::HashMap,
    fmt,
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread::available_parallelism,
};

use cepa_core::BoxFuture;
use tokio::sync::{OwnedMutexGuard, Semaphore};

#[doc(hidden)]
pub use self::{
    best::{Best, Scored},
    vectors::Vectors,
};
use self::{
    log::Header,
    opened::{Opened, Search},
};
#[doc(hidden)]
pub use crate::unit::unit;
use crate::{
    Chunk, Collection, DocumentSummary, Filter, Hit, RagError, SearchRequest, VectorRecord, VectorStore,
};

/// A collection, once it is opened. Whoever holds this may open it.
type Slot = tokio::sync::Mutex<Option<Arc<Opened>>>;

const NAME: &str = "embedded";
/// No collection begins with a dot.
const LOCK: &str = ".lock";
/// More than any embedding model has.
const MOST_DIMENSIONS: usize = 1 << 16;

/// A store inside the program: no server, nothing to set up. Searches are exact, by vectors, by words (BM25) and by
/// both.
///
/// Vectors, metadata and the index of words are in memory, the chunks themselves in the folder. The vectors of 100 000
/// chunks with 384 dimensions take 150 MB, and a search takes about as long as reading them once. It is for one
/// program: the folder is locked while a store is open.
///
/// What [`insert`](VectorStore::insert) and [`delete`](VectorStore::delete) have returned for is safe, and survives a
/// crash. The room of what is deleted is given back once that is more than half. Searches go on meanwhile, as many at
/// once as there are processors. It needs a Tokio runtime, on whose blocking threads the work is done.
///
/// ```
/// use cepa_core::TextBlock;
/// use cepa_rag::{Chunk, Collection, EmbeddedStore, SearchRequest, VectorRecord, VectorStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), cepa_rag::RagError> {
/// let store = EmbeddedStore::in_memory();
/// let collection = Collection::new("botany", 2)?;
/// store.ensure_collection(&collection).await?;
/// let chunk = Chunk::new("botany.txt", TextBlock::new("Allium cepa is the onion."));
/// store.insert(&collection, vec![VectorRecord::new("botany", "1", chunk, vec![0.6, 0.8])]).await?;
///
/// let hits = store.search(&collection, SearchRequest::vector(&[3.0, 4.0], 5)).await?;
/// assert_eq!(hits[0].score, 1.0);
/// let hits = store.search(&collection, SearchRequest::text("onion", 5)).await?;
/// assert_eq!(hits[0].chunk.source, "botany.txt");
/// # Ok(()) }
/// ```
pub struct EmbeddedStore {
    /// Its folder, which is locked.
    place: Option<(PathBuf, Arc<File>)>,
    is_quantised: bool,
    collections: Mutex<HashMap<String, Arc<Slot>>>,
    /// More searches at once than processors would only make each slower.
    searches: Arc<Semaphore>,
}

impl EmbeddedStore {
    /// A store in this folder, which is made if it is not there. Each collection has a folder of its own in it, and is
    /// read when it is used first.
    ///
    /// # Errors
    /// [`RagError::Io`] for a folder that cannot be made or written to, [`RagError::Service`] for one that a store has
    /// open already, in this program or in another.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, RagError> {
        let folder = folder.into();
        let in_folder = |error| RagError::io(&folder, error);
        fs::create_dir_all(&folder).map_err(in_folder)?;
        let lock = File::options().create(true).append(true).open(folder.join(LOCK)).map_err(in_folder)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self::new(Some((folder, Arc::new(lock))))),
            Err(TryLockError::WouldBlock) => Err(RagError::Service {
                service: folder.display().to_string(),
                reason: "a store has this folder open already, in this program or in another: share that one, or end \
                         it first"
                    .into(),
                is_transient: true,
                source: None,
            }),
            Err(TryLockError::Error(error)) => Err(in_folder(error)),
        }
    }

    /// A store that is gone with the program.
    pub fn in_memory() -> Self {
        Self::new(None)
    }

    fn new(place: Option<(PathBuf, Arc<File>)>) -> Self {
        let processors = available_parallelism().map_or(1, usize::from);
        Self {
            place,
            is_quantised: false,
            collections: Mutex::default(),
            searches: Arc::new(Semaphore::new(processors)),
        }
    }

    /// With a smaller copy of each vector that is read first, of one byte per dimension: the hits are the same, in less
    /// than half the time, for a quarter more memory. Default: without.
    pub fn with_quantised_pass(mut self, is_quantised: bool) -> Self {
        self.is_quantised = is_quantised;
        self
    }

    /// The collection as it is kept.
    async fn opened(&self, collection: &Collection, create: bool) -> Result<Arc<Opened>, RagError> {
        let Collection { name, dimensions, .. } = collection;
        let slot = {
            let mut collections = self.collections.lock().unwrap_or_else(PoisonError::into_inner);
            collections.entry(name.clone()).or_default().clone()
        };
        let slot = slot.lock_owned().await;
        let opened = match &*slot {
            Some(opened) => opened.clone(),
            None => self.open_or_create(slot, collection, create).await?,
        };
        match (opened.header.dimensions, *dimensions) {
            (one, other) if one == other => Ok(opened),
            (Some(expected), Some(found)) => {
                Err(RagError::Dimensions { place: format!("collection `{name}`"), expected, found })
            }
            (kept, _) => Err(RagError::Settings(format!(
                "collection `{name}` is there {} vectors, and was asked for as one {} them: take another collection",
                if kept.is_some() { "with" } else { "without" },
                if kept.is_some() { "without" } else { "with" },
            ))),
        }
    }

    /// Opens it. Whoever asked may have gone before that is done: the thread has the slot to itself until then, and
    /// leaves there what it has opened for whoever asks next.
    async fn open_or_create(
        &self,
        mut slot: OwnedMutexGuard<Option<Arc<Opened>>>,
        collection: &Collection,
        create: bool,
    ) -> Result<Arc<Opened>, RagError> {
        let Collection { name, dimensions, .. } = collection;
        if dimensions.is_some_and(|dimensions| dimensions > MOST_DIMENSIONS) {
            let reason = format!("vectors have {MOST_DIMENSIONS} dimensions at most");
            return Err(RagError::Unsupported { store: NAME.into(), reason });
        }
        let header = Header { name: name.clone(), dimensions: *dimensions };
        let (is_quantised, folder) = (self.is_quantised, self.place.clone());
        let opened = blocking(move || {
            let opened = match folder {
                Some((folder, lock)) => {
                    Opened::in_folder(folder.join(&header.name), header, is_quantised, create, lock)?
                }
                None => create.then(|| Opened::in_memory(header, is_quantised)),
            };
            *slot = opened.map(Arc::new);
            Ok(slot.clone())
        });
        opened.await?.ok_or_else(|| {
            trouble(Path::new(NAME), format!("there is no collection `{name}`: `ensure_collection` makes it"))
        })
    }
}

impl fmt::Debug for EmbeddedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddedStore")
            .field("folder", &self.place.as_ref().map(|(folder, _)| folder))
            .field("is_quantised", &self.is_quantised)
            .finish_non_exhaustive()
    }
}

impl VectorStore for EmbeddedStore {
    fn name(&self) -> &str {
        NAME
    }

    fn has_keywords(&self) -> bool {
        true
    }

    fn ensure_collection<'a>(&'a self, collection: &'a Collection) -> BoxFuture<'a, Result<(), RagError>> {
        Box::pin(async move { self.opened(collection, true).await.map(drop) })
    }

    fn insert<'a>(
        &'a self,
        collection: &'a Collection,
        records: Vec<VectorRecord>,
    ) -> BoxFuture<'a, Result<(), RagError>> {
        Box::pin(async move {
            let opened = self.opened(collection, false).await?;
            let mut log = opened.writer.clone().lock_owned().await;
            blocking(move || opened.insert(&mut log, records)).await
        })
    }

    fn delete<'a>(
        &'a self,
        collection: &'a Collection,
        document_id: &'a str,
        but_version: Option<&'a str>,
        filter: Option<&'a Filter>,
    ) -> BoxFuture<'a, Result<(), RagError>> {
        Box::pin(async move {
            let opened = self.opened(collection, false).await?;
            let mut log = opened.writer.clone().lock_owned().await;
            let (document_id, but_version) = (document_id.to_owned(), but_version.map(str::to_owned));
            let filter = filter.cloned();
            blocking(move || opened.delete(&mut log, &document_id, but_version.as_deref(), filter.as_ref()))
                .await
        })
    }

    fn search<'a>(
        &'a self,
        collection: &'a Collection,
        request: SearchRequest<'a>,
    ) -> BoxFuture<'a, Result<Vec<Hit>, RagError>> {
        Box::pin(async move {
            let opened = self.opened(collection, false).await?;
            let SearchRequest { vector, text, top_k, score_threshold, filter } = request;
            let unsupported =
                |reason: &str| RagError::Unsupported { store: NAME.into(), reason: reason.into() };
            if vector.is_none() && text.is_none() {
                return Err(unsupported("nothing to look for, neither a vector nor words"));
            }
            if vector.is_some() && text.is_some() && score_threshold.is_some() {
                return Err(unsupported(
                    "a threshold for vectors and words at once: fused scores have no scale",
                ));
            }
            let vector = vector.map(|vector| opened.unit("the query", Some(vector))).transpose()?;
            let (text, filter) = (text.map(str::to_owned), filter.cloned());
            let search = Search { vector, text, top_k, score_threshold, filter };
            let permit = self.searches.clone().acquire_owned().await;
            blocking(move || {
                // Kept to the end of the search, even if nobody waits for it any more.
                let _permit = permit;
                opened.search(&search)
            })
            .await
        })
    }

    fn list_documents<'a>(
        &'a self,
        collection: &'a Collection,
        filter: Option<&'a Filter>,
    ) -> BoxFuture<'a, Result<Vec<DocumentSummary>, RagError>> {
        Box::pin(async move {
            let opened = self.opened(collection, false).await?;
            let filter = filter.cloned();
            blocking(move || Ok(opened.documents(filter.as_ref()))).await
        })
    }

    fn list_chunks<'a>(
        &'a self,
        collection: &'a Collection,
        document_id: &'a str,
        offset: u32,
        limit: u32,
        filter: Option<&'a Filter>,
    ) -> BoxFuture<'a, Result<Vec<Chunk>, RagError>> {
        Box::pin(async move {
            let opened = self.opened(collection, false).await?;
            let (document_id, filter) = (document_id.to_owned(), filter.cloned());
            blocking(move || opened.chunks(&document_id, offset, limit, filter.as_ref())).await
        })
    }
}

/// Does work that waits for the disk or the processor.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RagError> + Send + 'static,
) -> Result<T, RagError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(trouble(Path::new(NAME), error)),
    }
}

/// What keeps the store from answering.
fn trouble(place: &Path, reason: impl ToString) -> RagError {
    RagError::Service {
        service: place.display().to_string(),
        reason: reason.to_string(),
        is_transient: false,
        source: None,
    }
}
