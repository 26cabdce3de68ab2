//! Setting an [`AuditLog`] up.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use cepa_core::{Cx, Reply};
use serde_json::Value;

use super::{
    AuditLog, Inner,
    error::AuditError,
    file::LogFile,
    record::{Limits, Scrub},
    reply::Who,
    writer::Writer,
};

/// What happens when a line cannot be written: the disk is full, the file is locked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnFailure {
    /// The reply fails with [`AuditError`]; a call whose first line cannot be written does not run.
    #[default]
    Error,
    /// An error is logged (by `tracing`) and counted ([`AuditLog::lost`]); the reply goes on.
    Warn,
}

/// When the disk is told to keep what was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fsync {
    /// Before a call goes on. Lines that come at once are kept together.
    #[default]
    Always,
    /// This long after a line, at the latest; a loss of power takes the lines since.
    Every(Duration),
    /// Whenever the system does so by itself.
    Never,
}

/// Sets an [`AuditLog`] up.
#[must_use = "nothing is built until `build()`"]
#[derive(Clone)]
pub struct AuditLogBuilder {
    path: PathBuf,
    who: Option<Who>,
    limits: Limits,
    scrub: Scrub,
    on_failure: OnFailure,
    write_ahead: bool,
    fsync: Fsync,
    rotate_at: Option<u64>,
    lock_timeout: Duration,
    write_timeout: Duration,
}

/// The most that may be kept of arguments or of a result.
const MOST: usize = 1 << 20;

impl AuditLogBuilder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            who: None,
            limits: Limits { arguments: 16 << 10, result: 4 << 10 },
            scrub: Scrub::default(),
            on_failure: OnFailure::Error,
            write_ahead: true,
            fsync: Fsync::Always,
            rotate_at: None,
            lock_timeout: Duration::from_secs(5),
            write_timeout: Duration::from_secs(10),
        }
    }

    /// For whom a reply works, read from what the caller gave to it by `.with(value)`: a text, or any JSON.
    pub fn who<T, W>(mut self, who: impl Fn(&T) -> W + Send + Sync + 'static) -> Self
    where
        T: Send + Sync + 'static,
        W: Into<Value>,
    {
        self.who = Some(Arc::new(move |cx: &Cx<Reply>| cx.context::<T>().map(|value| who(value).into())));
        self
    }

    /// What is done to a tool's arguments before they are written.
    pub fn scrub_arguments(mut self, scrub: impl Fn(&str, &mut Value) + Send + Sync + 'static) -> Self {
        self.scrub.arguments = Some(Arc::new(scrub));
        self
    }

    /// What is done to the text of a tool's result, and to what an error says of it, before it is written.
    pub fn scrub_result(mut self, scrub: impl Fn(&str, &mut String) + Send + Sync + 'static) -> Self {
        self.scrub.result = Some(Arc::new(scrub));
        self
    }

    /// The most bytes of arguments: 16 KiB by default, 1 MiB at most. Of longer ones the beginning is written, with length
    /// and hash.
    pub fn argument_limit(mut self, bytes: usize) -> Self {
        self.limits.arguments = bytes;
        self
    }

    /// The most bytes of a result's text: 4 KiB by default, 1 MiB at most.
    pub fn result_limit(mut self, bytes: usize) -> Self {
        self.limits.result = bytes;
        self
    }

    /// What happens when a line cannot be written.
    pub fn on_failure(mut self, on_failure: OnFailure) -> Self {
        self.on_failure = on_failure;
        self
    }

    /// Whether a call has a line before it runs: yes, by default.
    pub fn write_ahead(mut self, write_ahead: bool) -> Self {
        self.write_ahead = write_ahead;
        self
    }

    /// When the disk is told to keep what was written: before a call goes on, by default.
    pub fn fsync(mut self, fsync: Fsync) -> Self {
        self.fsync = fsync;
        self
    }

    /// Begins a new file once this one would be longer than so many bytes (4 KiB at least); the old one is named
    /// `<file>.000001` and so on. The chain goes on over the files.
    pub fn rotate_at(mut self, bytes: u64) -> Self {
        self.rotate_at = Some(bytes);
        self
    }

    /// How long to wait for another process that writes to the file: 5 seconds by default.
    pub fn lock_timeout(mut self, limit: Duration) -> Self {
        self.lock_timeout = limit;
        self
    }

    /// How long a call, [`flush`](AuditLog::flush) and the drop of the log wait for the disk: 10 seconds by default, by the
    /// real clock. Choose it longer than [`lock_timeout`](Self::lock_timeout), of which it is a part.
    pub fn write_timeout(mut self, limit: Duration) -> Self {
        self.write_timeout = limit;
        self
    }

    /// Opens the file, notes half a line that a crash has left, and starts the thread that writes.
    ///
    /// # Errors
    /// A file that cannot be written to; a limit that cannot be.
    pub fn build(self) -> Result<AuditLog, AuditError> {
        for (field, value) in
            [("argument_limit", self.limits.arguments), ("result_limit", self.limits.result)]
        {
            if value > MOST {
                return Err(AuditError::OutOfBounds { field, value, must: "at most 1048576 bytes" });
            }
        }
        if let Some(bytes) = self.rotate_at.filter(|bytes| *bytes < 4096) {
            let must = "at least 4096 bytes";
            return Err(AuditError::OutOfBounds { field: "rotate_at", value: bytes as usize, must });
        }
        let file = LogFile::open(self.path, self.rotate_at, self.lock_timeout)?;
        let writer = Writer::start(file, self.fsync, self.write_timeout)?;
        let inner = Inner { writer, limits: self.limits, scrub: self.scrub, on_failure: self.on_failure };
        Ok(AuditLog { inner: Arc::new(inner), who: self.who, write_ahead: self.write_ahead })
    }
}

impl fmt::Debug for AuditLogBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditLogBuilder").field("path", &self.path).finish_non_exhaustive()
    }
}
