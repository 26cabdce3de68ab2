//! Setting a [`PathGuard`] up.

use std::{
    env, io,
    path::{Path, PathBuf},
};

use regex::Regex;

use super::{
    PathGuard, place,
    select::{NAMES, Named, Select},
};
use crate::{argument::pointer::Pointer, judge::OnViolation};

/// What is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// It is read.
    Read,
    /// It is changed, made or removed.
    Write,
}

/// Why a path may not be used, or a guard cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// In no folder of the guard.
    #[error("is outside of the allowed folders")]
    Outside,
    /// In a folder that is forbidden.
    #[error("is in a folder that must not be used")]
    Forbidden,
    /// In a folder that may only be read.
    #[error("is in a folder that may only be read")]
    ReadOnly,
    /// No plain path.
    #[error("{what}")]
    #[non_exhaustive]
    Spelling {
        /// What is wrong with it.
        what: &'static str,
    },
    /// More links after each other than can be followed.
    #[error("leads through too many links")]
    TooManyLinks,
    /// What is there cannot be looked at.
    #[error("cannot be followed")]
    Unreadable,
    /// A guard without folders.
    #[error("the guard has no folder: name one with `root` or `read_only_root`")]
    NoRoot,
    /// A folder of the guard that cannot be used.
    #[error("folder `{}`: {source}", path.display())]
    #[non_exhaustive]
    Root {
        /// The folder.
        path: PathBuf,
        /// What is wrong.
        source: io::Error,
    },
    /// What is not a JSON pointer.
    #[error("`{0}` is no JSON pointer to an argument, which begins with `/`")]
    Pointer(String),
    /// What is not a regular expression.
    #[error("names of arguments: {0}")]
    Names(Box<dyn std::error::Error + Send + Sync>),
}

/// A folder, and what may be done in it: `None` is nothing.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    pub(super) access: Option<Access>,
    /// As it was given, made absolute, and where that really is.
    spelt: PathBuf,
    real: PathBuf,
}

impl Folder {
    fn new(path: &Path, access: Option<Access>, must_exist: bool) -> Result<Self, PathError> {
        let error = |source| PathError::Root { path: path.to_owned(), source };
        let spelt = place::spelt(&std::path::absolute(path).map_err(error)?);
        let real = place::real(&spelt).map_err(|why| error(io::Error::other(why)))?;
        if must_exist && !real.is_dir() {
            return Err(error(io::Error::new(io::ErrorKind::NotFound, "there is no such folder")));
        }
        Ok(Self { access, spelt, real })
    }

    /// Whether a path is in it; parts are compared as wholes.
    pub(super) fn holds(&self, path: &Path) -> bool {
        path.starts_with(&self.real) || path.starts_with(&self.spelt)
    }

    pub(super) fn depth(&self) -> usize {
        self.real.components().count()
    }
}

/// Sets a [`PathGuard`] up.
#[must_use = "nothing is built until `build()`"]
#[derive(Clone, Debug)]
pub struct PathGuardBuilder {
    folders: Vec<(PathBuf, Option<Access>)>,
    base: Option<PathBuf>,
    named: Vec<(String, String, Option<Access>, bool)>,
    names: Option<String>,
    formats: bool,
    action: OnViolation,
}

impl Default for PathGuardBuilder {
    fn default() -> Self {
        Self {
            folders: Vec::new(),
            base: None,
            named: Vec::new(),
            names: Some(NAMES.to_owned()),
            formats: true,
            action: OnViolation::Deny,
        }
    }
}

impl PathGuardBuilder {
    /// A folder in which files may be read and written. Of folders within each other the innermost counts.
    pub fn root(mut self, path: impl Into<PathBuf>) -> Self {
        self.folders.push((path.into(), Some(Access::Write)));
        self
    }

    /// A folder in which files may be read.
    pub fn read_only_root(mut self, path: impl Into<PathBuf>) -> Self {
        self.folders.push((path.into(), Some(Access::Read)));
        self
    }

    /// A folder or a file within the others that may not be used: `.git`, a file of keys. It need not exist.
    pub fn forbid(mut self, path: impl Into<PathBuf>) -> Self {
        self.folders.push((path.into(), None));
        self
    }

    /// Where relative paths begin, as the tools see it: the process's own folder, by default.
    pub fn base(mut self, path: impl Into<PathBuf>) -> Self {
        self.base = Some(path.into());
        self
    }

    /// An argument of a tool that is a path or a list of them, whatever it is called: a JSON pointer, in which `*` stands
    /// for each item (`/edits/*/target`).
    pub fn argument(mut self, tool: impl Into<String>, pointer: impl Into<String>) -> Self {
        self.named.push((tool.into(), pointer.into(), None, true));
        self
    }

    /// As [`argument`](Self::argument), for one that is always read or always written, whatever the call does else: the
    /// two paths of a copy.
    pub fn argument_for(
        mut self,
        tool: impl Into<String>,
        pointer: impl Into<String>,
        access: Access,
    ) -> Self {
        self.named.push((tool.into(), pointer.into(), Some(access), true));
        self
    }

    /// An argument of a tool that is no path, although it is called like one.
    pub fn not_a_path(mut self, tool: impl Into<String>, pointer: impl Into<String>) -> Self {
        self.named.push((tool.into(), pointer.into(), None, false));
        self
    }

    /// A regular expression for the names of arguments that are paths in every tool, instead of the usual names.
    pub fn names(mut self, regex: impl Into<String>) -> Self {
        self.names = Some(regex.into());
        self
    }

    /// Only arguments that are named with their tool are paths: neither usual names nor formats count.
    pub fn only_named(mut self) -> Self {
        (self.names, self.formats) = (None, false);
        self
    }

    /// What happens to a call with a path outside: refused, by default.
    pub fn on_violation(mut self, action: OnViolation) -> Self {
        self.action = action;
        self
    }

    /// Looks at the folders and builds the guard.
    ///
    /// # Errors
    /// A folder that does not exist, a pointer or regular expression that is none.
    pub fn build(self) -> Result<PathGuard, PathError> {
        if self.folders.iter().all(|(_, access)| access.is_none()) {
            return Err(PathError::NoRoot);
        }
        let folders = self.folders.iter().map(|(path, access)| Folder::new(path, *access, access.is_some()));
        let folders = folders.collect::<Result<_, _>>()?;
        let base = self.base.map_or_else(env::current_dir, std::path::absolute);
        let base = base.map_err(|source| PathError::Root { path: ".".into(), source })?;
        // Relative paths go by where that really is, whatever name the folder was given by.
        let base = place::real(&base)?;
        let named = self.named.into_iter().map(|(tool, pointer, access, is_path)| {
            match Pointer::parse(&pointer).filter(|_| !pointer.is_empty()) {
                Some(pointer) => Ok(Named { tool, pointer, access, is_path }),
                None => Err(PathError::Pointer(pointer)),
            }
        });
        let named = named.collect::<Result<_, _>>()?;
        let names = self.names.map(|names| Regex::new(&names)).transpose();
        let names = names.map_err(|error| PathError::Names(Box::new(error)))?;
        let select = Select { named, names, formats: self.formats };
        Ok(PathGuard { folders, base, select, action: self.action })
    }
}
