//! Whether a path lies where files may be worked on.

use std::{
    borrow::Cow,
    env,
    ffi::OsString,
    fs,
    path::{Component, Path, PathBuf},
};

use super::PermissionContext;

/// Links that are followed in one path before it counts as a circle; as Linux does.
const MAX_LINKS: usize = 40;

/// Whether a path is one of the session's working directories, or in one of them: the process's current directory and
/// [`PermissionContext::working_directories`], as in AgentScope 2.0.11. Tools that change files allow such calls by
/// themselves in [`PermissionMode::AcceptEdits`](super::PermissionMode).
///
/// The real paths count: `..` and links are followed, also by the name of a file that does not exist yet, so none of
/// them leads outside. `~` is the home directory. A path that cannot be followed is outside. When the process runs in
/// the root directory, as services do, that alone does not open the whole disk.
///
/// This looks at the disk, and so may block for a moment. Between this look and the tool's own a link may be put
/// there: against somebody who can write to the directory it is no protection.
///
/// ```
/// use std::path::Path;
/// use cepa_core::{AdditionalWorkingDirectory, PermissionContext, is_within_working_directories};
///
/// let folder = std::env::temp_dir();
/// let mut context = PermissionContext::default();
/// let key = folder.to_string_lossy().into_owned();
/// context.working_directories.insert(key.clone(), AdditionalWorkingDirectory::new(key, "session"));
/// assert!(is_within_working_directories(&folder.join("new/notes.txt"), &context));
/// assert!(!is_within_working_directories(&folder.join("../etc/passwd"), &context));
/// assert!(is_within_working_directories(Path::new("notes.txt"), &context));
/// ```
#[must_use]
pub fn is_within_working_directories(path: &Path, context: &PermissionContext) -> bool {
    let Ok(current) = env::current_dir() else { return false };
    let Some(path) = real_path(path, &current) else { return false };
    let is_in = |folder: &Path| real_path(folder, &current).is_some_and(|folder| path.starts_with(folder));
    let in_current = current.parent().is_some() && is_in(&current);
    in_current || context.working_directories.keys().any(|folder| is_in(Path::new(folder)))
}

/// The absolute path without links, `.` and `..`. What does not exist is taken as it is written.
fn real_path(path: &Path, current: &Path) -> Option<PathBuf> {
    let path = expand_home(path)?;
    let mut real = PathBuf::new();
    // What is still to be followed, the next part last.
    let mut rest = parts(&current.join(path));
    let mut links = 0;
    while let Some(part) = rest.pop() {
        if part == ".." {
            real.pop();
            continue;
        }
        real.push(&part);
        let Ok(target) = fs::read_link(&real) else { continue };
        links += 1;
        if links > MAX_LINKS {
            return None;
        }
        // An absolute target begins with the root, which replaces all when it is pushed.
        real.pop();
        rest.extend(parts(&target));
    }
    Some(real)
}

/// The parts of a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    parts.map(|part| part.as_os_str().to_owned()).rev().collect()
}

/// `~` and `~/…` of a path; that of another user cannot be told.
fn expand_home(path: &Path) -> Option<Cow<'_, Path>> {
    let mut parts = path.components();
    match parts.next() {
        Some(Component::Normal(first)) if first == "~" => {
            Some(Cow::Owned(env::home_dir()?.join(parts.as_path())))
        }
        Some(Component::Normal(first)) if first.as_encoded_bytes().starts_with(b"~") => None,
        _ => Some(Cow::Borrowed(path)),
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::{id::Id, permission::AdditionalWorkingDirectory};

    /// A folder of its own with `work` and `outside` in it, and a context in which `work` is allowed.
    struct Place(PathBuf, PermissionContext);

    impl Place {
        fn new() -> Self {
            let folder = env::temp_dir().join(Id::new().to_string());
            for name in ["work/sub", "outside"] {
                fs::create_dir_all(folder.join(name)).unwrap();
            }
            let work = folder.join("work").to_string_lossy().into_owned();
            let mut context = PermissionContext::default();
            context.working_directories.insert(work.clone(), AdditionalWorkingDirectory::new(work, "test"));
            Self(folder, context)
        }

        fn link(&self, name: &str, target: impl AsRef<Path>) {
            symlink(target, self.0.join(name)).unwrap();
        }

        fn is_within(&self, name: &str) -> bool {
            is_within_working_directories(&self.0.join(name), &self.1)
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn what_is_inside_is_inside() {
        let place = Place::new();
        for name in ["work", "work/", "work/new", "work/sub/new/file", "work/sub/../new", "outside/../work/a"]
        {
            assert!(place.is_within(name), "{name}");
        }
        for name in ["outside/a", "work/../outside/a", "work/new/../../outside/a", "workshop/a", ""] {
            assert!(!place.is_within(name), "{name}");
        }
    }

    #[test]
    fn links_are_followed() {
        let place = Place::new();
        place.link("work/to_outside", place.0.join("outside"));
        place.link("work/relative", "../outside");
        place.link("work/dangling", "../outside/not_there_yet");
        place.link("work/circle", "circle");
        place.link("work/to_sub", "sub");
        place.link("alias", "work");
        for name in
            ["work/to_outside/a", "work/relative", "work/dangling", "work/circle", "work/to_outside/../a"]
        {
            assert!(!place.is_within(name), "{name}");
        }
        for name in ["work/to_sub/a", "alias/a", "work/to_sub/../a"] {
            assert!(place.is_within(name), "{name}");
        }
    }

    #[test]
    fn another_users_home_is_outside() {
        let place = Place::new();
        assert!(!is_within_working_directories(Path::new("~somebody/a"), &place.1));
        let outside = Path::new("~/not/in/any/working/directory");
        assert_eq!(
            is_within_working_directories(outside, &place.1),
            env::home_dir().is_some_and(|home| env::current_dir().unwrap() == home)
        );
    }
}
