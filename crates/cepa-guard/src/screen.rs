//! Finding values in text and putting something else in their place: what [`PiiGuard`](crate::PiiGuard) and
//! [`SecretScrub`](crate::SecretScrub) share.

mod cleaner;
mod detector;
mod errors;
mod hooks;
mod json;
mod messages;
mod model;
mod personal;
mod secret;
mod stream;
mod tool;

use std::{fmt, sync::Arc};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

pub(crate) use self::{
    cleaner::{Cleaner, Found},
    detector::{Detector, Hit, floor},
    hooks::{Places, Screening},
    secret::{known_secrets, user_secrets},
    stream::Stream,
};
pub use self::{
    errors::{Cleaned, PiiBlocked},
    hooks::OnBlock,
    personal::Pii,
};

/// What becomes of a value that was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// `[REDACTED:email]` stands in its place.
    #[default]
    Redact,
    /// Stars and its last four characters; stars alone where it has fewer than eight.
    Mask,
    /// `[email:…]` with a code that is the same for the same value and key, and tells nothing without the key: 16
    /// letters of HMAC-SHA256. Needs a key.
    Hash,
    /// The reply or the tool call ends: see [`OnBlock`].
    Block,
}

/// A guard that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScreenError {
    /// A pattern that is none.
    #[error("the pattern of detector `{detector}` cannot be used: {reason}")]
    Pattern {
        /// The detector.
        detector: String,
        /// What is wrong.
        reason: String,
    },
    /// A longest value that cannot be.
    #[error("the longest value of detector `{detector}` is {longest} bytes, but must be 1 to {most}")]
    Longest {
        /// The detector.
        detector: String,
        /// What was given.
        longest: usize,
        /// The most there may be.
        most: usize,
    },
    /// Nothing to look for.
    #[error("the guard looks for nothing: add a detector")]
    NoDetector,
    /// Values are to be hashed without a key.
    #[error("detector `{0}` hashes its values, and there is no key: give one with `hash_key`")]
    NoKey(String),
    /// A key that can be guessed.
    #[error("the key has {0} bytes, but must have at least 16")]
    ShortKey(usize),
    /// A secret that stands in other text by chance.
    #[error("secret `{name}` has {len} bytes, but must have {least} to {most}")]
    Secret {
        /// Its name.
        name: String,
        /// Its length.
        len: usize,
        /// The least there must be.
        least: usize,
        /// The most there may be.
        most: usize,
    },
}

/// Writes what stands in a value's place.
#[derive(Clone)]
pub(crate) struct Writer {
    key: Option<Hmac<Sha256>>,
}

impl Writer {
    pub(crate) fn new(key: Option<&[u8]>) -> Result<Self, ScreenError> {
        let Some(key) = key else { return Ok(Self { key: None }) };
        if key.len() < 16 {
            return Err(ScreenError::ShortKey(key.len()));
        }
        let key = Hmac::new_from_slice(key).map_err(|_| ScreenError::ShortKey(key.len()))?;
        Ok(Self { key: Some(key) })
    }

    pub(crate) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    fn replacement(&self, detector: &Detector, value: &str) -> String {
        let name = &detector.name;
        match (detector.action, &self.key) {
            (Action::Mask, _) => mask(value),
            (Action::Hash, Some(key)) => format!("[{name}:{}]", code(key.clone(), value)),
            _ => format!("[REDACTED:{name}]"),
        }
    }
}

fn mask(value: &str) -> String {
    let count = value.chars().count();
    if count < 8 {
        return "****".to_owned();
    }
    let kept: String = value.chars().skip(count - 4).collect();
    format!("****{kept}")
}

/// Letters only: digits could be taken for a number again.
fn code(mut key: Hmac<Sha256>, value: &str) -> String {
    key.update(value.as_bytes());
    let bytes = key.finalize().into_bytes();
    let halves = bytes.iter().take(8).flat_map(|byte| [byte >> 4, byte & 15]);
    halves.map(|half| char::from(b'a' + half)).collect()
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("has_key", &self.has_key()).finish()
    }
}

/// The detectors of a guard, ready to be used by any number of replies at once.
pub(crate) type SharedCleaner = Arc<Cleaner>;
