//! What can go wrong with an audit log.

use std::{io, path::PathBuf, time::Duration};

/// What went wrong with an audit log.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The file could not be used.
    #[error("audit log `{}`: {what}: {message}", path.display())]
    #[non_exhaustive]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// The kind of failure.
        kind: io::ErrorKind,
        /// What the system said.
        message: String,
    },
    /// Another process kept the file locked.
    #[error("audit log `{}`: another process has kept it locked for {limit:?}", path.display())]
    #[non_exhaustive]
    Locked {
        /// The file.
        path: PathBuf,
        /// How long was waited.
        limit: Duration,
    },
    /// The disk did not answer. The line may be written later.
    #[error("audit log `{}`: the disk has not answered within {limit:?}", path.display())]
    #[non_exhaustive]
    Slow {
        /// The file.
        path: PathBuf,
        /// How long was waited.
        limit: Duration,
    },
    /// The thread that writes has ended.
    #[error("audit log `{}`: its writer has ended", path.display())]
    #[non_exhaustive]
    Closed {
        /// The file.
        path: PathBuf,
    },
    /// A line does not fit into the chain.
    #[error("audit log `{}`: line {line} {why}", path.display())]
    #[non_exhaustive]
    Broken {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A setting that cannot be.
    #[error("`{field}` is {value}, but must be {must}")]
    #[non_exhaustive]
    OutOfBounds {
        /// The setting.
        field: &'static str,
        /// Its value.
        value: usize,
        /// What it may be.
        must: &'static str,
    },
}

impl AuditError {
    pub(super) fn io(path: impl Into<PathBuf>, what: &'static str, error: &io::Error) -> Self {
        Self::Io { path: path.into(), what, kind: error.kind(), message: error.to_string() }
    }
}
