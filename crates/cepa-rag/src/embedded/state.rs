//! [`State`]: what a collection holds now, in memory but for the contents of chunks.

use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    sync::Arc,
};

use super::{
    best::{Best, Scored},
    entry::{Content, Deleted, Entry, Kept},
    keywords::Keywords,
    log::{self, Header},
    vectors::Vectors,
    words::words,
};
use crate::{DocumentSummary, Filter, Metadata};

/// What a collection holds now.
///
/// A row is never used twice: one that is deleted stays, unseen, until the collection is made anew.
#[derive(Debug)]
pub(super) struct State {
    rows: Vec<Row>,
    documents: HashMap<String, Versions>,
    vectors: Option<Vectors>,
    keywords: Keywords,
    dead: usize,
    /// What contents are read from.
    file: Option<Arc<File>>,
}

/// Rows by version and index.
type Versions = BTreeMap<String, BTreeMap<u32, u32>>;

#[derive(Debug)]
struct Row {
    is_dead: bool,
    document_id: Arc<str>,
    source: Arc<str>,
    total_chunks: u32,
    metadata: Metadata,
    content: Content,
}

/// An entry whose words are counted already.
pub(super) struct Prepared(Entry, HashMap<String, u32>);

/// Where a chunk can be read when the state is let go.
pub(super) struct Found {
    file: Option<Arc<File>>,
    content: Content,
}

/// How to search by a vector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Query<'a> {
    pub(super) vector: &'a [f32],
    pub(super) is_quantised: bool,
}

impl State {
    pub(super) fn new(header: &Header, is_quantised: bool) -> Self {
        Self {
            rows: Vec::new(),
            documents: HashMap::new(),
            vectors: header.dimensions.map(|dimensions| Vectors::new(dimensions, is_quantised)),
            keywords: Keywords::default(),
            dead: 0,
            file: None,
        }
    }

    /// Contents are read from this file.
    pub(super) fn read_from(&mut self, file: File) {
        self.file = Some(Arc::new(file));
    }

    /// How many rows there are, deleted ones too.
    pub(super) fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Whether most of it is deleted, and that is worth the work of making it anew.
    pub(super) fn is_mostly_dead(&self) -> bool {
        self.dead >= 64 && self.dead > self.rows.len() / 2
    }

    /// What can be done before the state is held.
    pub(super) fn prepare(entries: Vec<Entry>) -> Vec<Prepared> {
        let prepare = |entry| {
            let words = match &entry {
                Entry::Inserted { kept, .. } => kept.chunk.text().map(words).unwrap_or_default(),
                Entry::Deleted(_) => HashMap::new(),
            };
            Prepared(entry, words)
        };
        entries.into_iter().map(prepare).collect()
    }

    /// Does what happened.
    pub(super) fn apply(&mut self, entries: Vec<Prepared>) {
        for Prepared(entry, words) in entries {
            match entry {
                Entry::Inserted { kept, vector, content } => self.insert(*kept, &vector, content, words),
                Entry::Deleted(deleted) => self.delete(&deleted),
            }
        }
    }

    fn insert(&mut self, kept: Kept, vector: &[f32], content: Content, words: HashMap<String, u32>) {
        let Kept { document_id, version, chunk } = kept;
        // Most chunks follow one of the same document.
        let shared = |text: &str, of: fn(&Row) -> &Arc<str>| match self.rows.last().map(of) {
            Some(last) if **last == *text => last.clone(),
            _ => text.into(),
        };
        let row = Row {
            is_dead: false,
            document_id: shared(&document_id, |row| &row.document_id),
            source: shared(&chunk.source, |row| &row.source),
            total_chunks: chunk.total_chunks,
            metadata: chunk.metadata,
            content,
        };
        // The caller sees to it that there are never more.
        let number = self.rows.len() as u32;
        self.rows.push(row);
        if let Some(vectors) = &mut self.vectors {
            vectors.push(vector);
        }
        self.keywords.push(words);
        let versions = self.documents.entry(document_id).or_default();
        let before = versions.entry(version).or_default().insert(chunk.chunk_index, number);
        before.into_iter().for_each(|row| self.kill(row));
    }

    fn delete(&mut self, deleted: &Deleted) {
        let Deleted { document_id, version, indexes } = deleted;
        let Some(versions) = self.documents.get_mut(document_id) else { return };
        let Some(chunks) = versions.get_mut(version) else { return };
        let dead: Vec<u32> = indexes.iter().filter_map(|index| chunks.remove(index)).collect();
        if chunks.is_empty() {
            versions.remove(version);
        }
        if versions.is_empty() {
            self.documents.remove(document_id);
        }
        dead.into_iter().for_each(|row| self.kill(row));
    }

    fn kill(&mut self, row: u32) {
        let dead = &mut self.rows[row as usize];
        dead.is_dead = true;
        dead.metadata = Metadata::new();
        self.keywords.remove(row);
        self.dead += 1;
    }

    /// Whether a row is there and passes.
    fn passes(&self, row: u32, filter: Option<&Filter>) -> bool {
        let row = &self.rows[row as usize];
        !row.is_dead && filter.is_none_or(|filter| filter.matches(&row.metadata))
    }

    /// The rows nearest to a vector.
    pub(super) fn nearest(
        &self,
        query: Query<'_>,
        limit: usize,
        threshold: Option<f32>,
        filter: Option<&Filter>,
    ) -> Vec<Scored> {
        let Some(vectors) = &self.vectors else { return Vec::new() };
        let best = Best::new(limit, threshold);
        let passes = |row| self.passes(row, filter);
        match query.is_quantised {
            true => vectors.best_quantised(query.vector, best, limit, passes),
            false => vectors.best(query.vector, best, passes),
        }
    }

    /// The rows that fit words best.
    pub(super) fn fitting(
        &self,
        text: &str,
        limit: usize,
        threshold: Option<f32>,
        filter: Option<&Filter>,
    ) -> Vec<Scored> {
        self.keywords.best(text, Best::new(limit, threshold), |row| self.passes(row, filter))
    }

    /// Where the content of a row is.
    pub(super) fn content(&self, row: u32) -> Found {
        Found { file: self.file.clone(), content: self.rows[row as usize].content.clone() }
    }

    /// The document of a row.
    pub(super) fn document_of(&self, row: u32) -> Arc<str> {
        self.rows[row as usize].document_id.clone()
    }

    /// The rows that are there, with their vectors.
    pub(super) fn live(&self) -> impl Iterator<Item = (Found, &[f32])> {
        (0..).zip(&self.rows).filter(|(_, row)| !row.is_dead).map(|(number, _)| {
            (self.content(number), self.vectors.as_ref().map_or(&[][..], |vectors| vectors.row(number)))
        })
    }

    /// What a deletion would delete.
    pub(super) fn doomed(
        &self,
        document_id: &str,
        but_version: Option<&str>,
        filter: Option<&Filter>,
    ) -> Vec<Deleted> {
        let versions = self.documents.get(document_id).into_iter().flatten();
        let others = versions.filter(|(version, _)| Some(version.as_str()) != but_version);
        let doomed = others.map(|(version, chunks)| Deleted {
            document_id: document_id.to_owned(),
            version: version.clone(),
            indexes: chunks
                .iter()
                .filter(|(_, row)| self.passes(**row, filter))
                .map(|(index, _)| *index)
                .collect(),
        });
        doomed.filter(|deleted| !deleted.indexes.is_empty()).collect()
    }

    /// The documents, by version.
    pub(super) fn documents(&self, filter: Option<&Filter>) -> Vec<DocumentSummary> {
        let mut summaries = Vec::new();
        for (document_id, versions) in &self.documents {
            for (version, chunks) in versions {
                let mut passing = chunks.values().filter(|row| self.passes(**row, filter));
                let Some(row) = passing.next().map(|row| &self.rows[*row as usize]) else { continue };
                let count = 1 + passing.count() as u32;
                let source = &*row.source;
                summaries.push(
                    DocumentSummary::new(document_id, source, version, count, row.total_chunks)
                        .with_metadata(row.metadata.clone()),
                );
            }
        }
        summaries
    }

    /// Chunks of a document in the order of their index, without the first of them.
    pub(super) fn chunks(
        &self,
        document_id: &str,
        offset: u32,
        limit: u32,
        filter: Option<&Filter>,
    ) -> Vec<Found> {
        let versions = self.documents.get(document_id).into_iter().flat_map(BTreeMap::values);
        let mut chunks: Vec<(u32, u32)> = versions
            .flat_map(|chunks| chunks.iter().map(|(index, row)| (*index, *row)))
            .filter(|(_, row)| self.passes(*row, filter))
            .collect();
        chunks.sort_unstable();
        let page = chunks.into_iter().skip(offset as usize).take(limit as usize);
        page.map(|(_, row)| self.content(row)).collect()
    }
}

impl Found {
    /// The chunk's JSON.
    ///
    /// # Errors
    /// Those of the file.
    pub(super) fn json(self) -> std::io::Result<Arc<[u8]>> {
        match (self.content, self.file) {
            (Content::Here(json), _) => Ok(json),
            (Content::At { offset, length }, Some(file)) => Ok(log::read_at(&file, offset, length)?.into()),
            (Content::At { .. }, None) => Err(std::io::ErrorKind::NotFound.into()),
        }
    }
}
