//! The store inside the program, as its users see it.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of tests may fail the test")]

mod crash;
mod format;
mod given_up;
mod model;
mod quantised;
mod refusals;
mod searches;
mod together;

use cepa_core::TextBlock;
use cepa_rag::{Chunk, Collection, EmbeddedStore, VectorRecord};

/// A record whose text is given, of the only version of a document.
fn record(document: &str, index: u32, text: &str, vector: impl Into<Option<Vec<f32>>>) -> VectorRecord {
    let mut chunk = Chunk::new(format!("{document}.txt"), TextBlock::new(text));
    chunk.chunk_index = index;
    VectorRecord::new(document, "1", chunk, vector)
}

fn collection(dimensions: impl Into<Option<usize>>) -> Collection {
    Collection::new("things", dimensions).unwrap()
}

/// What each hit says.
fn texts(hits: &[cepa_rag::Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.chunk.text().unwrap()).collect()
}

fn open(folder: &tempfile::TempDir) -> EmbeddedStore {
    EmbeddedStore::open(folder.path()).unwrap()
}
