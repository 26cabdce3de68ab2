//! Case files in folders.

use std::{
    io,
    path::{Path, PathBuf},
};

/// All case files at or below these paths, sorted.
///
/// # Errors
/// A path that cannot be read.
pub(crate) fn find(paths: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        collect(path, &mut files)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    }
    files.sort();
    files.dedup();
    Ok(files)
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        // A file that was named is taken at its word; what it lacks is told when it is read.
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path)? {
        let path = entry?.path();
        if path.is_dir() || path.extension().is_some_and(|extension| extension == "json") {
            collect(&path, files)?;
        }
    }
    Ok(())
}
