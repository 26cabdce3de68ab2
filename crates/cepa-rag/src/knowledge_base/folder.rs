//! The files of a folder.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use walkdir::{DirEntry, WalkDir};

use super::Problem;
use crate::{File, RagError};

/// A file that is to be indexed.
#[derive(Debug)]
pub(super) enum Source {
    /// On disk, under this name.
    Path { name: String, path: PathBuf },
    /// In memory.
    Memory(File),
}

impl Source {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Path { name, .. } => name,
            Self::Memory(file) => &file.name,
        }
    }

    /// The file with its bytes, unless there are too many.
    pub(super) fn read(self, limit: u64) -> Result<File, RagError> {
        let too_large = |name: &str, bytes| RagError::TooLarge { file: name.to_owned(), bytes, limit };
        match self {
            Self::Memory(file) if file.bytes.len() as u64 > limit => {
                Err(too_large(&file.name, file.bytes.len() as u64))
            }
            Self::Memory(file) => Ok(file),
            Self::Path { name, path } => {
                let failed = |error| RagError::io(&path, error);
                let size = fs::metadata(&path).map_err(failed)?.len();
                if size > limit {
                    return Err(too_large(&name, size));
                }
                let file = fs::File::open(&path).map_err(failed)?;
                let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
                // It may grow while it is read.
                file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
                match bytes.len() as u64 {
                    read if read > limit => Err(too_large(&name, read)),
                    _ => Ok(File::new(name, bytes)),
                }
            }
        }
    }
}

/// What a folder holds.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) sources: Vec<Source>,
    /// Places that could not be listed.
    pub(super) problems: Vec<Problem>,
}

impl Listing {
    /// Whether there is nothing, and nothing that could not be seen.
    pub(super) fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.problems.is_empty()
    }
}

/// The files below a folder, in the order of their names: no hidden ones, and nothing behind a link.
pub(super) fn list(root: &Path, prefix: &str) -> Result<Listing, RagError> {
    // The folder itself may be named by a link.
    let root = root.canonicalize().map_err(|error| RagError::io(root, error))?;
    let mut listing = Listing::default();
    let is_seen =
        |entry: &DirEntry| entry.depth() == 0 || !entry.file_name().as_encoded_bytes().starts_with(b".");
    for entry in WalkDir::new(&root).sort_by_file_name().into_iter().filter_entry(is_seen) {
        match entry {
            Ok(entry) if entry.depth() == 0 && !entry.file_type().is_dir() => {
                let error = std::io::Error::from(std::io::ErrorKind::NotADirectory);
                return Err(RagError::io(&root, error));
            }
            Ok(entry) if entry.file_type().is_file() => {
                let name = named(&root, entry.path(), prefix);
                listing.sources.push(Source::Path { name, path: entry.into_path() });
            }
            Ok(_) => {}
            Err(error) if error.depth() == 0 => return Err(RagError::io(&root, error.into())),
            Err(error) => {
                let path = error.path().unwrap_or(&root).to_owned();
                let name = named(&root, &path, prefix);
                listing.problems.push(Problem::new(name, RagError::io(&path, error.into())));
            }
        }
    }
    Ok(listing)
}

/// The path below the folder with `/`, after the prefix.
fn named(root: &Path, path: &Path, prefix: &str) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    let parts = below.iter().map(|part| part.to_string_lossy());
    let prefix = (!prefix.is_empty()).then_some(prefix.into());
    prefix.into_iter().chain(parts).collect::<Vec<_>>().join("/")
}
