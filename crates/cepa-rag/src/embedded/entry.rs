//! [`Entry`]: what happened to a collection, and its bytes.
//!
//! A batch of entries is one frame of the log. An entry is its kind (a byte), the length of a JSON text (`u32`), the
//! text, and for a chunk its vector; numbers are little-endian.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Chunk, VectorRecord};

const INSERTED: u8 = 1;
const DELETED: u8 = 2;

/// What happened.
#[derive(Debug)]
pub(super) enum Entry {
    /// A chunk was added, or took the place of the one before it.
    Inserted {
        kept: Box<Kept>,
        /// Of one length, as the collection says; empty for none.
        vector: Vec<f32>,
        content: Content,
    },
    /// Chunks were deleted.
    Deleted(Deleted),
}

/// A chunk as JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) document_id: String,
    pub(super) version: String,
    pub(super) chunk: Chunk,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Deleted {
    pub(super) document_id: String,
    pub(super) version: String,
    pub(super) indexes: Vec<u32>,
}

/// Where the JSON of a chunk is.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// In the log, here.
    At { offset: u64, length: u32 },
    /// In memory.
    Here(Arc<[u8]>),
}

impl Kept {
    /// Its bytes again.
    pub(super) fn read(json: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(json)
    }

    fn write(record: VectorRecord) -> Result<Vec<u8>, serde_json::Error> {
        let VectorRecord { document_id, version, chunk, .. } = record;
        serde_json::to_vec(&Self { document_id, version, chunk })
    }
}

/// Adds a chunk to a batch; its vector is the unit vector.
pub(super) fn push_inserted(
    batch: &mut Vec<u8>,
    record: VectorRecord,
    vector: &[f32],
) -> Result<(), serde_json::Error> {
    push_again(batch, &Kept::write(record)?, vector);
    Ok(())
}

/// Adds a chunk that is JSON already.
pub(super) fn push_again(batch: &mut Vec<u8>, json: &[u8], vector: &[f32]) {
    push(batch, INSERTED, json);
    vector.iter().for_each(|number| batch.extend(number.to_le_bytes()));
}

/// Adds that chunks were deleted.
pub(super) fn push_deleted(batch: &mut Vec<u8>, deleted: &Deleted) -> Result<(), serde_json::Error> {
    push(batch, DELETED, &serde_json::to_vec(deleted)?);
    Ok(())
}

fn push(batch: &mut Vec<u8>, kind: u8, json: &[u8]) {
    batch.push(kind);
    // A batch is never so long that this would not fit.
    batch.extend((json.len() as u32).to_le_bytes());
    batch.extend(json);
}

/// The entries of a batch, which begins here in the log or is nowhere but in memory; their vectors have so many
/// dimensions.
///
/// # Errors
/// What is wrong with it.
pub(super) fn read(batch: &[u8], offset: Option<u64>, dimensions: usize) -> Result<Vec<Entry>, String> {
    let (mut entries, mut rest) = (Vec::new(), batch);
    while let Some((kind, after)) = rest.split_first() {
        let (length, after) = after.split_first_chunk::<4>().ok_or("an entry has no length")?;
        let (json, after) =
            after.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or("an entry is cut off")?;
        rest = after;
        match *kind {
            INSERTED => {
                let (bytes, after) = rest.split_at_checked(dimensions * 4).ok_or("a vector is cut off")?;
                rest = after;
                let vector =
                    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
                let kept = Box::new(Kept::read(json).map_err(|error| error.to_string())?);
                let content = match offset {
                    Some(offset) => {
                        let before = batch.len() - rest.len() - bytes.len() - json.len();
                        Content::At { offset: offset + before as u64, length: json.len() as u32 }
                    }
                    None => Content::Here(json.into()),
                };
                entries.push(Entry::Inserted { kept, vector, content });
            }
            DELETED => {
                entries
                    .push(Entry::Deleted(serde_json::from_slice(json).map_err(|error| error.to_string())?));
            }
            kind => return Err(format!("there is no entry of kind {kind}")),
        }
    }
    Ok(entries)
}
