//! [`RagError`].

use cepa_core::{BoxError, ErrorKind};

/// Why something could not be parsed, kept or found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RagError {
    /// The settings cannot be used; the text says what to do.
    #[error("{0}")]
    Settings(String),
    /// A file cannot be read as what it should be. It keeps no other file from being indexed.
    #[error("{file}{} cannot be read: {reason}", place.as_ref().map(|place| format!(", {place},")).unwrap_or_default())]
    Parse {
        /// The file.
        file: String,
        /// Where in it: `page 3`.
        place: Option<String>,
        /// What is wrong.
        reason: String,
    },
    /// A file is larger than the limit.
    #[error("{file} has {bytes} bytes, and the limit is {limit}: raise the limit, or leave the file out")]
    TooLarge {
        /// The file.
        file: String,
        /// Its size in bytes.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// Vectors of one length were expected, and others came.
    #[error(
        "{place} has vectors of {expected} dimensions, and not of {found}: take the embedding model it was made with, \
         or another collection"
    )]
    Dimensions {
        /// The collection, or the model.
        place: String,
        /// What it has.
        expected: usize,
        /// What came.
        found: usize,
    },
    /// A store cannot do what it was asked for.
    #[error("{store} cannot do this: {reason}")]
    Unsupported {
        /// The store.
        store: String,
        /// Why.
        reason: String,
    },
    /// A store or service did not do what it was asked for.
    #[error("{service}: {reason}")]
    Service {
        /// Which.
        service: String,
        /// What it said, or what kept it from saying anything.
        reason: String,
        /// Whether the same may succeed later.
        is_transient: bool,
        /// What went wrong below.
        #[source]
        source: Option<BoxError>,
    },
    /// The embedding model, or the one that ranks, failed.
    #[error(transparent)]
    Model(cepa_core::Error),
    /// A file or folder of this machine.
    #[error("{path}: {error}")]
    Io {
        /// Which.
        path: String,
        /// What the system said.
        error: std::io::Error,
    },
}

impl RagError {
    /// A file that cannot be read as what it should be.
    pub fn parse(file: impl Into<String>, reason: impl ToString) -> Self {
        Self::Parse { file: file.into(), place: None, reason: reason.to_string() }
    }

    /// A file or folder that the system does not give.
    pub fn io(path: &std::path::Path, error: std::io::Error) -> Self {
        Self::Io { path: path.display().to_string(), error }
    }

    /// Whether the same may succeed later: a service that was not reached, or was busy.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Service { is_transient, .. } => *is_transient,
            Self::Model(error) => matches!(error.kind(), ErrorKind::Model(error) if error.retryable),
            _ => false,
        }
    }
}

impl From<cepa_core::Error> for RagError {
    fn from(error: cepa_core::Error) -> Self {
        Self::Model(error)
    }
}
