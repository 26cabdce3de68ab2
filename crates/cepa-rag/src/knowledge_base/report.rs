//! What a run of indexing tells, while it runs and at its end.

use std::fmt;

use crate::RagError;

/// What a run of indexing has done.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct IndexReport {
    /// Documents that are new.
    pub added: usize,
    /// Documents that are as they were: nothing was parsed or embedded.
    pub unchanged: usize,
    /// Documents that were there with another content, or not whole.
    pub replaced: usize,
    /// Documents whose files are gone.
    pub deleted: usize,
    /// Files without any text: empty ones, images. Nothing is kept of them, so each run reads them again.
    pub empty: usize,
    /// Chunks that were kept.
    pub chunks: usize,
    /// Tokens that embedding them took, where the model says so.
    pub tokens: u64,
    /// What could not be read. A file of which nothing could be read keeps what was known of it before.
    pub problems: Vec<Problem>,
}

/// What could not be read.
#[derive(Debug)]
#[non_exhaustive]
pub struct Problem {
    /// The file.
    pub file: String,
    /// Why.
    pub error: RagError,
}

impl Problem {
    pub(super) fn new(file: impl Into<String>, error: RagError) -> Self {
        Self { file: file.into(), error }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl fmt::Display for IndexReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { added, unchanged, replaced, deleted, .. } = self;
        write!(f, "{added} added, {replaced} replaced, {unchanged} unchanged, {deleted} deleted")?;
        if !self.problems.is_empty() {
            write!(f, ", {} with problems", self.problems.len())?;
        }
        Ok(())
    }
}

/// How far a run of indexing is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// How many documents there are.
    pub documents: usize,
    /// How many of them are done.
    pub documents_done: usize,
    /// How many chunks have been kept.
    pub chunks_done: usize,
    /// The document that something was just done with; empty before the first one.
    pub document: String,
}
