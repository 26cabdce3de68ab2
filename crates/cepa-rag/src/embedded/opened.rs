//! [`Opened`]: a collection in use. All of this may wait for the disk or the processor: it runs on a thread for that.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

use super::{
    entry::{self, Kept},
    fusion,
    log::{self, Header, Log, NewLog},
    state::{Found, Query, State},
    trouble,
};
use crate::{Chunk, DocumentSummary, Filter, Hit, RagError, VectorRecord, metadata::not_finite, unit::unit};

/// A batch is written when it has so many bytes.
const BATCH: usize = 8 << 20;
/// No chunk has more.
const LARGEST_CHUNK: usize = log::LARGEST - BATCH;

/// A collection in use.
pub(super) struct Opened {
    pub(super) header: Header,
    /// Where it is kept, if it is.
    folder: Option<PathBuf>,
    is_quantised: bool,
    state: RwLock<State>,
    /// Whoever holds this may write; what is read meanwhile is what was there before.
    pub(super) writer: Arc<tokio::sync::Mutex<Writer>>,
    /// The folder of the store is nobody else's as long as a collection is in use.
    _lock: Option<Arc<File>>,
}

/// The log, unless all is in memory.
pub(super) type Writer = Option<Log>;

/// What is looked for; the vector is a unit vector.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) vector: Option<Vec<f32>>,
    pub(super) text: Option<String>,
    pub(super) top_k: usize,
    pub(super) score_threshold: Option<f32>,
    pub(super) filter: Option<Filter>,
}

impl Opened {
    /// One that is kept nowhere.
    pub(super) fn in_memory(header: Header, is_quantised: bool) -> Self {
        let state = State::new(&header, is_quantised);
        Self::new(header, None, is_quantised, state, None, None)
    }

    /// One of a folder, which is made, if it is to be.
    pub(super) fn in_folder(
        folder: PathBuf,
        header: Header,
        is_quantised: bool,
        create: bool,
        lock: Arc<File>,
    ) -> Result<Option<Self>, RagError> {
        if !Log::is_in(&folder) {
            if !create {
                return Ok(None);
            }
            let made = fs::create_dir_all(&folder).and_then(|()| folder.parent().map_or(Ok(()), log::sync));
            made.map_err(|error| RagError::io(&folder, error))?;
            Log::create(&folder, &header)?.finish()?;
            log::sync(&folder).map_err(|error| RagError::io(&folder, error))?;
        }
        let mut state = None;
        let (log, found) = Log::open(&folder, |header, offset, batch| {
            let state = state.get_or_insert_with(|| State::new(header, is_quantised));
            let entries = entry::read(batch, Some(offset), header.dimensions.unwrap_or(0));
            state.apply(State::prepare(entries.map_err(|reason| trouble(&folder, reason))?));
            Ok(())
        })?;
        if found.name != header.name {
            let reason =
                format!("this is the collection `{}`, not `{}`: take another name", found.name, header.name);
            return Err(trouble(&folder, reason));
        }
        let mut state = state.unwrap_or_else(|| State::new(&found, is_quantised));
        state.read_from(log.reader()?);
        Ok(Some(Self::new(found, Some(folder), is_quantised, state, Some(log), Some(lock))))
    }

    fn new(
        header: Header,
        folder: Option<PathBuf>,
        is_quantised: bool,
        state: State,
        log: Option<Log>,
        lock: Option<Arc<File>>,
    ) -> Self {
        let writer = Arc::new(tokio::sync::Mutex::new(log));
        Self { header, folder, is_quantised, state: RwLock::new(state), writer, _lock: lock }
    }

    fn dimensions(&self) -> usize {
        self.header.dimensions.unwrap_or(0)
    }

    /// What it is, for errors.
    fn place(&self) -> &Path {
        self.folder.as_deref().unwrap_or_else(|| Path::new(&self.header.name))
    }

    fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The vectors' directions.
    ///
    /// # Errors
    /// What cannot be kept or looked for.
    pub(super) fn unit(&self, what: &str, vector: Option<&[f32]>) -> Result<Vec<f32>, RagError> {
        let unsupported = |reason| RagError::Unsupported { store: super::NAME.into(), reason };
        match (self.header.dimensions, vector) {
            (None, None) => Ok(Vec::new()),
            (None, Some(_)) => {
                let name = &self.header.name;
                Err(unsupported(format!(
                    "{what} has a vector, and collection `{name}` has none: it was made for words"
                )))
            }
            (Some(_), None) => Err(unsupported(format!(
                "{what} has no vector, and collection `{}` has them",
                self.header.name
            ))),
            (Some(expected), Some(vector)) if vector.len() != expected => {
                let place = format!("collection `{}`", self.header.name);
                Err(RagError::Dimensions { place, expected, found: vector.len() })
            }
            (Some(_), Some(vector)) => unit(vector).map_err(|reason| {
                unsupported(format!("the vector of {what} is not usable, because {reason}"))
            }),
        }
    }

    /// Keeps records.
    pub(super) fn insert(&self, log: &mut Writer, records: Vec<VectorRecord>) -> Result<(), RagError> {
        let mut units = Vec::with_capacity(records.len());
        for VectorRecord { chunk, vector, .. } in &records {
            units.push(
                self.unit(&format!("chunk {} of `{}`", chunk.chunk_index, chunk.source), vector.as_deref())?,
            );
            if let Some((field, value)) = not_finite(&chunk.metadata) {
                let reason = format!(
                    "`{field}` of chunk {} of `{}` is {value}, which is no finite number: leave it out",
                    chunk.chunk_index, chunk.source
                );
                return Err(RagError::Unsupported { store: super::NAME.into(), reason });
            }
        }
        if self.state().row_count() + records.len() > u32::MAX as usize {
            let reason = format!("a collection has {} chunks at most: take several", u32::MAX);
            return Err(RagError::Unsupported { store: super::NAME.into(), reason });
        }
        let mut batch = Vec::new();
        for (record, unit) in records.into_iter().zip(units) {
            let (before, source) = (batch.len(), record.chunk.source.clone());
            entry::push_inserted(&mut batch, record, &unit).map_err(|error| trouble(self.place(), error))?;
            if batch.len() - before > LARGEST_CHUNK {
                let reason = format!("a chunk of `{source}` has more than {LARGEST_CHUNK} bytes");
                return Err(RagError::Unsupported { store: super::NAME.into(), reason });
            }
            if batch.len() >= BATCH {
                self.commit(log, &batch)?;
                batch.clear();
            }
        }
        self.commit(log, &batch)
    }

    /// Deletes chunks of a document.
    pub(super) fn delete(
        &self,
        log: &mut Writer,
        document_id: &str,
        but_version: Option<&str>,
        filter: Option<&Filter>,
    ) -> Result<(), RagError> {
        let mut batch = Vec::new();
        for deleted in self.state().doomed(document_id, but_version, filter) {
            entry::push_deleted(&mut batch, &deleted).map_err(|error| trouble(self.place(), error))?;
        }
        self.commit(log, &batch)
    }

    fn commit(&self, log: &mut Writer, batch: &[u8]) -> Result<(), RagError> {
        if batch.is_empty() {
            return Ok(());
        }
        // Read before it is written: nothing gets into the log that could not be read from it.
        let entries = entry::read(batch, log.as_ref().map(Log::next_content), self.dimensions());
        let entries = State::prepare(entries.map_err(|reason| trouble(self.place(), reason))?);
        if let Some(log) = log {
            log.append(batch)?;
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.apply(entries);
        let is_mostly_dead = state.is_mostly_dead();
        drop(state);
        if is_mostly_dead && let Err(error) = self.compact(log) {
            let collection = &self.header.name;
            tracing::warn!(collection, %error, "deleted chunks still take room: there will be another try");
        }
        Ok(())
    }

    /// Makes it anew from what is there, while it can be searched.
    fn compact(&self, log: &mut Writer) -> Result<(), RagError> {
        let mut new_log = match &self.folder {
            Some(folder) => Some(Log::create(folder, &self.header)?),
            None => None,
        };
        let mut new_state = State::new(&self.header, self.is_quantised);
        let mut take = |batch: &[u8], new_log: &mut Option<NewLog>| {
            let entries = entry::read(batch, new_log.as_ref().map(NewLog::next_content), self.dimensions());
            new_state.apply(State::prepare(entries.map_err(|reason| trouble(self.place(), reason))?));
            new_log.as_mut().map_or(Ok(()), |log| log.append(batch))
        };
        let mut batch = Vec::new();
        for (found, vector) in self.state().live() {
            let json = found.json().map_err(|error| RagError::io(self.place(), error))?;
            entry::push_again(&mut batch, &json, vector);
            if batch.len() >= BATCH {
                take(&batch, &mut new_log)?;
                batch.clear();
            }
        }
        if !batch.is_empty() {
            take(&batch, &mut new_log)?;
        }
        if let Some(new_log) = new_log {
            // From here on the new file is the log: the old one must not be written to, whatever happens.
            let (new_log, reader) = new_log.finish()?;
            new_state.read_from(reader);
            *log = Some(new_log);
        }
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = new_state;
        Ok(())
    }

    /// Finds chunks.
    pub(super) fn search(&self, search: &Search) -> Result<Vec<Hit>, RagError> {
        let Search { vector, text, top_k, score_threshold, filter } = search;
        let state = self.state();
        let (top_k, threshold, filter) = (*top_k, *score_threshold, filter.as_ref());
        let query = vector.as_deref().map(|vector| Query { vector, is_quantised: self.is_quantised });
        let best = match (query, text.as_deref()) {
            (Some(query), Some(text)) => {
                let width = fusion::width(top_k);
                let by_vector = state.nearest(query, width, None, filter);
                fusion::fused([by_vector, state.fitting(text, width, None, filter)], top_k)
            }
            (Some(query), None) => state.nearest(query, top_k, threshold, filter),
            (None, Some(text)) => state.fitting(text, top_k, threshold, filter),
            (None, None) => Vec::new(),
        };
        let found: Vec<_> = best
            .into_iter()
            .map(|best| (best.score, state.document_of(best.row), state.content(best.row)))
            .collect();
        drop(state);
        found
            .into_iter()
            .map(|(score, document_id, found)| Ok(Hit::new(score, &*document_id, self.chunk(found)?)))
            .collect()
    }

    pub(super) fn documents(&self, filter: Option<&Filter>) -> Vec<DocumentSummary> {
        self.state().documents(filter)
    }

    pub(super) fn chunks(
        &self,
        document_id: &str,
        offset: u32,
        limit: u32,
        filter: Option<&Filter>,
    ) -> Result<Vec<Chunk>, RagError> {
        let found = self.state().chunks(document_id, offset, limit, filter);
        found.into_iter().map(|found| self.chunk(found)).collect()
    }

    fn chunk(&self, found: Found) -> Result<Chunk, RagError> {
        let json = found.json().map_err(|error| RagError::io(self.place(), error))?;
        Ok(Kept::read(&json).map_err(|error| trouble(self.place(), error))?.chunk)
    }
}
