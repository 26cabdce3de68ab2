//! The folder of memories: reading and writing in it, and never outside of it.
//!
//! Files are reached through a handle of the folder (`cap-std`), so that neither `..` nor a link leads out of it, also when
//! somebody swaps files for links meanwhile. Everything here blocks.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
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

    /// Opens the folder, which is made if it is not there.
    pub(super) fn open(&self) -> Result<Open, Error> {
        let open = || {
            fs::create_dir_all(&self.root)?;
            Dir::open_ambient_dir(&self.root, ambient_authority())
        };
        let failed = |source| Error::Root { path: self.root.display().to_string(), source };
        open().map(Open).map_err(failed)
    }
}

/// The folder, open.
pub(super) struct Open(Dir);

impl Open {
    /// The folder itself.
    pub(super) fn dir(&self) -> &Dir {
        &self.0
    }

    /// The whole index; empty if there is none.
    pub(super) fn index(&self) -> Result<String, Error> {
        match self.bytes(INDEX, MAX_INDEX_BYTES) {
            Ok(bytes) => Ok(lossy(bytes)),
            Err(Error::Missing { .. }) => Ok(String::new()),
            Err(error) => Err(error),
        }
    }

    /// A whole file.
    pub(super) fn read(&self, name: &Name) -> Result<String, Error> {
        self.bytes(name.as_str(), limit_of(name)).map(lossy)
    }

    /// The first bytes of a file.
    pub(super) fn head(&self, path: &str, limit: u64) -> io::Result<Vec<u8>> {
        // Anything else than a file could make one wait for ever.
        if !self.0.metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is no file"));
        }
        let mut bytes = Vec::new();
        self.0.open(path)?.take(limit).read_to_end(&mut bytes)?;
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
        self.0.is_file(name.as_str())
    }

    /// Changes a file, and its line of the index. Nobody else changes anything from before `change` is asked until all is
    /// written.
    pub(super) fn change(
        &self,
        name: &Name,
        change: impl FnOnce() -> Result<Change, Error>,
    ) -> Result<(), Error> {
        // The lock is released when the file is closed, also by a process that dies.
        let _lock = self.lock().map_err(Error::io(LOCK))?;
        let limit = limit_of(name);
        let line = match change()? {
            Change::Write(text) if text.len() as u64 > limit => {
                return Err(Error::TooLong { name: name.to_string(), limit });
            }
            Change::Write(text) => {
                self.write(name, &text).map_err(Error::io(name.as_str()))?;
                Some(index::line(name, &FrontMatter::read(&text)))
            }
            Change::Remove => {
                self.0.remove_file(name.as_str()).map_err(Error::io(name.as_str()))?;
                None
            }
        };
        if name.is_index() {
            return Ok(());
        }
        let before = self.index()?;
        let index = index::with_line(&before, name, line.as_deref());
        if index == before {
            return Ok(());
        }
        self.write(&Name::index(), &index).map_err(Error::io(INDEX))
    }

    fn lock(&self) -> io::Result<fs::File> {
        let mut options = OpenOptions::new();
        options.create(true).write(true);
        let file = self.0.open_with(LOCK, &options)?.into_std();
        file.lock()?;
        Ok(file)
    }

    /// Writes a file anew: whoever reads it meanwhile, or after a crash, finds all of the old or all of the new.
    fn write(&self, name: &Name, text: &str) -> io::Result<()> {
        let (folder, file) = name.split();
        let dir = match folder {
            Some(folder) => {
                self.0.create_dir_all(folder)?;
                self.0.open_dir(folder)?
            }
            None => self.0.try_clone()?,
        };
        let mut temporary = TempFile::new(&dir)?;
        temporary.write_all(text.as_bytes())?;
        temporary.as_file().sync_all()?;
        temporary.replace(file)
    }
}

fn limit_of(name: &Name) -> u64 {
    if name.is_index() { MAX_INDEX_BYTES } else { MAX_BYTES }
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
