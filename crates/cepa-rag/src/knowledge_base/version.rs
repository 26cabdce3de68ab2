//! Which content of a document is kept: a hash of it, and of all that its chunks depend on.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::Inner;
use crate::{Chunk, Metadata};

/// Of how documents are kept. A change makes all of them be done again.
const FORMAT: &str = "1";

/// A hash of a knowledge base's settings, to which a document is added.
#[derive(Clone)]
pub(super) struct Fingerprint(Sha256);

impl Fingerprint {
    /// Of the model, the scope and, for files, of how they are read and cut.
    ///
    /// The scope belongs to it: where two of them in one collection have a document of the same name and content, it
    /// is not the same record.
    pub(super) fn of(inner: &Inner, reads: bool) -> Self {
        let mut hash = Sha256::new();
        let model = inner.model.as_ref().map(|model| (model.name(), model.dimensions()));
        part(&mut hash, FORMAT.as_bytes());
        part(&mut hash, format!("{model:?} {:?}", inner.scope).as_bytes());
        if reads {
            part(&mut hash, format!("{:?} {:?}", inner.parsers, inner.chunker).as_bytes());
        }
        Self(hash)
    }

    /// For files of this folder, or of none.
    pub(super) fn of_origin(mut self, origin: Option<&str>) -> Self {
        part(&mut self.0, format!("{origin:?}").as_bytes());
        self
    }

    /// With a file.
    pub(super) fn file(&self, name: &str, bytes: &[u8]) -> String {
        let mut hash = self.0.clone();
        part(&mut hash, name.as_bytes());
        part(&mut hash, bytes);
        hex(hash)
    }

    /// With chunks.
    pub(super) fn chunks(&self, chunks: &[Chunk]) -> String {
        let mut hash = self.0.clone();
        for chunk in chunks {
            let metadata: &Metadata = &chunk.metadata;
            // Not the whole block: each has an id of its own.
            part(&mut hash, chunk.text().unwrap_or_default().as_bytes());
            part(&mut hash, format!("{} {:?} {metadata:?}", chunk.source, chunk.position).as_bytes());
        }
        hex(hash)
    }
}

/// With its length, so that no two lists of parts are alike.
fn part(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

fn hex(hash: Sha256) -> String {
    // Half of it: nobody gains anything by making two documents alike that he may both write.
    hash.finalize().iter().take(16).fold(String::with_capacity(32), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
