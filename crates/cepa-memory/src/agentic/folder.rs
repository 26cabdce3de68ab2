//! The folder of memories: reading and writing in it, and never outside of it.
//!
//! Files are reached through a handle of the folder (`cap-std`), so that neither `..` nor a link leads out of it, also when
//! somebody swaps files for links meanwhile. Everything here blocks.

use std::{
    collections::BTreeMap,
    fs::{self, TryLockError},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::Weak,
    time::{Duration, Instant},
};

use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};
use cap_tempfile::TempFile;

use super::{
    error::AgenticMemoryError as Error,
    front_matter::FrontMatter,
    index,
    name::{INDEX, Name},
};

/// The most bytes of a memory.
pub(super) const MAX_BYTES: u64 = 1 << 20;
/// The most bytes of the index: a line for each of very many memories.
const MAX_INDEX_BYTES: u64 = 64 << 20;
/// Whoever writes holds a lock on this file.
const LOCK: &str = ".lock";
/// How long a change waits for the lock, and how often it looks: often enough that many writers take turns.
const LOCK_WAIT: Duration = Duration::from_secs(10);
const LOCK_LOOK: Duration = Duration::from_millis(2);

/// Where memories are.
#[derive(Debug)]
pub(super) struct Folder {
    root: PathBuf,
}

/// What becomes of a memory.
pub(super) enum Change {
    Write(String),
    Remove,
}

impl Folder {
    /// # Errors
    /// An empty path.
    pub(super) fn new(path: &Path) -> Result<Self, Error> {
        // Absolute, so that it stays the same folder when the process goes to another one.
        let root = std::path::absolute(path)
            .map_err(|source| Error::Root { path: path.display().to_string(), source })?;
        Ok(Self { root })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Opens the folder, which is made if it is not there, for a call that is gone when its handle is.
    pub(super) fn open(&self, call: Weak<()>) -> Result<Open, Error> {
        let open = || {
            fs::create_dir_all(&self.root)?;
            Dir::open_ambient_dir(&self.root, ambient_authority())
        };
        let failed = |source| Error::Root { path: self.root.display().to_string(), source };
        Ok(Open { dir: open().map_err(failed)?, call })
    }
}

/// The folder, open.
pub(super) struct Open {
    dir: Dir,
    call: Weak<()>,
}

impl Open {
    /// The folder itself.
    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// The whole index; empty if there is none.
    pub(super) fn index(&self) -> Result<Vec<u8>, Error> {
        match self.bytes(INDEX, MAX_INDEX_BYTES) {
            Err(Error::Missing { .. }) => Ok(Vec::new()),
            read => read,
        }
    }

    /// A whole file.
    pub(super) fn read(&self, name: &Name) -> Result<String, Error> {
        let bytes = self.bytes(name.as_str(), limit_of(name))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The first bytes of a file.
    pub(super) fn head(&self, path: &str, limit: u64) -> io::Result<Vec<u8>> {
        // Anything else than a file could make one wait for ever.
        if !self.dir.metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is no file"));
        }
        let mut bytes = Vec::new();
        self.dir.open(path)?.take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn bytes(&self, path: &str, limit: u64) -> Result<Vec<u8>, Error> {
        let bytes = self.head(path, limit + 1).map_err(Error::io(path))?;
        if bytes.len() as u64 > limit {
            return Err(Error::TooLong { name: path.to_owned(), limit });
        }
        Ok(bytes)
    }

    /// A whole file that is to be changed: nothing in it may be lost by reading it.
    pub(super) fn text(&self, name: &Name) -> Result<String, Error> {
        let limit = limit_of(name);
        String::from_utf8(self.bytes(name.as_str(), limit)?)
            .map_err(|_| Error::NoText { name: name.to_string() })
    }

    pub(super) fn exists(&self, name: &Name) -> bool {
        self.dir.is_file(name.as_str())
    }

    /// Changes a file, and the index with it. Nobody else changes anything from before `change` is asked until all is
    /// written.
    pub(super) fn change(
        &self,
        name: &Name,
        change: impl FnOnce() -> Result<Change, Error>,
    ) -> Result<(), Error> {
        let _lock = self.lock(LOCK_WAIT)?;
        let limit = limit_of(name);
        let line = match change()? {
            Change::Write(text) if text.len() as u64 > limit => {
                return Err(Error::TooLong { name: name.to_string(), limit });
            }
            Change::Write(text) => {
                self.write(name, text.as_bytes())?;
                Some(index::line(name, &FrontMatter::read(&text)))
            }
            Change::Remove => {
                self.dir.remove_file(name.as_str()).map_err(Error::io(name.as_str()))?;
                None
            }
        };
        if name.is_index() {
            return Ok(());
        }
        self.complete_index(BTreeMap::from([(name.clone(), line)]))
    }

    /// Makes sure that nobody else changes anything. The lock is released when the file is closed, also by a process that
    /// dies; one that hangs does not hold others up for longer than `wait`.
    pub(super) fn lock(&self, wait: Duration) -> Result<fs::File, Error> {
        let mut options = OpenOptions::new();
        options.create(true).write(true);
        let file = self.dir.open_with(LOCK, &options).map_err(Error::io(LOCK))?.into_std();
        // Others' time is no matter of tokio's clock.
        let began = Instant::now();
        loop {
            match file.try_lock() {
                // Whoever asked has gone meanwhile, and expects no change any more.
                _ if self.call.strong_count() == 0 => return Err(Error::Thread),
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(Error::io(LOCK)(error)),
                Err(TryLockError::WouldBlock) if began.elapsed() >= wait => {
                    return Err(Error::Locked { waited: wait });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_LOOK),
            }
        }
    }

    /// Writes a file anew: whoever reads it meanwhile, or after a crash, finds all of the old or all of the new.
    pub(super) fn write(&self, name: &Name, text: &[u8]) -> Result<(), Error> {
        self.write_anew(name, text).map_err(Error::io(name.as_str()))
    }

    fn write_anew(&self, name: &Name, text: &[u8]) -> io::Result<()> {
        let (folder, file) = name.split();
        let dir = match folder {
            Some(folder) => {
                self.dir.create_dir_all(folder)?;
                self.dir.open_dir(folder)?
            }
            None => self.dir.try_clone()?,
        };
        let mut temporary = TempFile::new(&dir)?;
        // Who may read it does not change with what stands in it.
        if let Ok(old) = dir.symlink_metadata(file)
            && old.is_file()
        {
            temporary.as_file().set_permissions(old.permissions())?;
        }
        temporary.write_all(text)?;
        temporary.as_file().sync_all()?;
        temporary.replace(file)
    }
}

fn limit_of(name: &Name) -> u64 {
    if name.is_index() { MAX_INDEX_BYTES } else { MAX_BYTES }
}
