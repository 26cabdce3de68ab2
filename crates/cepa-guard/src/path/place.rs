//! Where a path leads: as it is spelt, and really.

use std::{
    ffi::OsString,
    fs,
    io::{self, ErrorKind},
    path::{Component, Path, PathBuf},
};

use super::PathError;

/// Links that are followed in one path before it counts as a circle; as Linux does.
const MAX_LINKS: usize = 40;

/// An absolute path without `.` and `..`, by its letters alone.
pub(super) fn spelt(path: &Path) -> PathBuf {
    let mut spelt = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            // The root's parent is the root.
            Component::ParentDir => _ = spelt.pop(),
            part => spelt.push(part),
        }
    }
    spelt
}

/// An absolute path without links, `.` and `..`, in the disk's own spelling as far as it exists.
pub(super) fn real(path: &Path) -> Result<PathBuf, PathError> {
    let mut real = PathBuf::new();
    // What is still to be followed, the next part last.
    let mut rest = parts(path);
    let mut links = 0;
    while let Some(part) = rest.pop() {
        if part == ".." {
            real.pop();
            continue;
        }
        real.push(&part);
        let target = match fs::read_link(&real) {
            Ok(target) => target,
            Err(error) if is_no_link(&error) => continue,
            Err(_) => return Err(PathError::Unreadable),
        };
        links += 1;
        if links > MAX_LINKS {
            return Err(PathError::TooManyLinks);
        }
        // An absolute target begins with the root, which replaces all when it is pushed.
        real.pop();
        rest.extend(parts(&target));
    }
    in_own_spelling(&real)
}

/// The parts of a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    parts.map(|part| part.as_os_str().to_owned()).rev().collect()
}

/// Not a link, or not there at all.
fn is_no_link(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound | ErrorKind::NotADirectory)
        // Windows: not a reparse point.
        || error.raw_os_error() == Some(4390)
}

/// Upper and lower case, and short names, as the disk has them: not every disk tells them apart.
fn in_own_spelling(path: &Path) -> Result<PathBuf, PathError> {
    for existing in path.ancestors() {
        match fs::canonicalize(existing) {
            Ok(own) => {
                let rest = path.strip_prefix(existing).unwrap_or(Path::new(""));
                return Ok(if rest.as_os_str().is_empty() { own } else { own.join(rest) });
            }
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(_) => return Err(PathError::Unreadable),
        }
    }
    Err(PathError::Unreadable)
}
