//! What goes wrong with memories in files.

use std::{io, time::Duration};

/// A memory that cannot be set up, read or written. The messages are for the model too: they say what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgenticMemoryError {
    /// A setting that cannot be.
    #[error("`{setting}` must be at least 1")]
    Zero {
        /// The setting.
        setting: &'static str,
    },
    /// The folder's path cannot be used.
    #[error("`{path}` cannot be the folder of memories: {source}")]
    Root {
        /// The path.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A name that no memory can have.
    #[error("`{name}` is no name of a memory: {rule}")]
    Name {
        /// The name.
        name: String,
        /// What a name must be.
        rule: &'static str,
    },
    /// There is no such memory.
    #[error("there is no memory `{name}`: `memory_list` tells which there are")]
    Missing {
        /// The name.
        name: String,
    },
    /// There is such a memory already.
    #[error(
        "there is a memory `{name}` already: read it, and change it with `memory_edit`; or give the new one another \
         name; or say `replace` if nothing of the old one is to stay"
    )]
    Exists {
        /// The name.
        name: String,
    },
    /// A memory of too many bytes.
    #[error("`{name}` would be or is longer than {limit} bytes: split it into several memories")]
    TooLong {
        /// The name.
        name: String,
        /// The most bytes there may be.
        limit: u64,
    },
    /// A memory that is no text, so that changing it would break it.
    #[error("`{name}` is no UTF-8 text and is not changed: write it anew")]
    NoText {
        /// The name.
        name: String,
    },
    /// A change that fits nowhere, or in several places.
    #[error(
        "`old_text` stands in `{name}` {count} times, not once: read the file and give more of it, exactly"
    )]
    NoMatch {
        /// The name.
        name: String,
        /// How often.
        count: usize,
    },
    /// The file system says no.
    #[error("`{name}`: {source}")]
    Io {
        /// The file.
        name: String,
        /// What it says.
        source: io::Error,
    },
    /// Somebody else is writing, and does not come to an end.
    #[error("another process has held the lock of the memories (`.lock`) for {} seconds: try again later", waited.as_secs())]
    Locked {
        /// How long it was waited.
        waited: Duration,
    },
    /// The thread that works with the files has ended early.
    #[error("working with the files of the memory ended early")]
    Thread,
}

impl AgenticMemoryError {
    pub(super) fn io(name: &str) -> impl FnOnce(io::Error) -> Self {
        move |source| match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { name: name.to_owned() },
            _ => Self::Io { name: name.to_owned(), source },
        }
    }
}
