//! Under what an answer is kept.

use sha2::{Digest as _, Sha256};

/// Half a hash: what is the same is the same text, for all that will ever be embedded.
pub(super) type Key = [u8; 16];

pub(super) fn key(model: &str, dimensions: Option<usize>, text: &str) -> Key {
    let mut hash = Sha256::new();
    hash.update((model.len() as u64).to_le_bytes());
    hash.update(model);
    hash.update((dimensions.unwrap_or_default() as u64).to_le_bytes());
    hash.update(text);
    first_half(hash)
}

/// The checksum of a record.
pub(super) fn checksum(record: &[u8]) -> Key {
    let mut hash = Sha256::new();
    hash.update(record);
    first_half(hash)
}

fn first_half(hash: Sha256) -> Key {
    let mut half = Key::default();
    half.iter_mut().zip(hash.finalize()).for_each(|(place, byte)| *place = byte);
    half
}
