//! Names of memories.

use std::fmt;

use super::error::AgenticMemoryError;

/// The index, which is in the system prompt.
pub(super) const INDEX: &str = "MEMORY.md";
/// The longest a name may be, in bytes.
const MAX_BYTES: usize = 200;

/// A name that the model gave, relative to the folder of memories. That the file is in there, whatever links say, is the
/// folder's business.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name(String);

impl Name {
    /// # Errors
    /// What is wrong with the name.
    pub(super) fn new(name: &str) -> Result<Self, AgenticMemoryError> {
        let wrong = |rule| Err(AgenticMemoryError::Name { name: name.to_owned(), rule });
        let path = name.trim().strip_prefix("./").unwrap_or(name.trim());
        if path.len() > MAX_BYTES {
            return wrong("it must not be longer than 200 bytes");
        }
        if !path.ends_with(".md") {
            return wrong("it must end with `.md`");
        }
        if path.split('/').any(|part| part.is_empty() || part.starts_with('.')) {
            return wrong("it must be relative to the folder of memories, without `..` and hidden files");
        }
        if path.chars().any(|sign| sign.is_control() || r#"\:*?"<>|()[]"#.contains(sign)) {
            return wrong("it may hold letters, digits, `-`, `_`, `.` and, between folders, `/`");
        }
        Ok(Self(path.to_owned()))
    }

    /// A name under which a memory can be written: not that of the index, which is kept beside the memories.
    ///
    /// # Errors
    /// As [`new`](Self::new), and the name of the index.
    pub(super) fn of_memory(name: &str) -> Result<Self, AgenticMemoryError> {
        let name = Self::new(name)?;
        // Also where the file system takes no notice of case.
        if name.0.eq_ignore_ascii_case(INDEX) {
            let rule = "the index gets its lines by itself; change it with `memory_edit`";
            return Err(AgenticMemoryError::Name { name: name.0, rule });
        }
        Ok(name)
    }

    /// The name of the index.
    pub(super) fn index() -> Self {
        Self(INDEX.to_owned())
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn is_index(&self) -> bool {
        self.0 == INDEX
    }

    /// The folder it is in, if it is not the root; and its last part.
    pub(super) fn split(&self) -> (Option<&str>, &str) {
        match self.0.rsplit_once('/') {
            Some((folder, file)) => (Some(folder), file),
            None => (None, &self.0),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_below_the_folder() {
        for name in ["a.md", "./a.md", "people/ann.md", "über.md", "a b.md", "a..md"] {
            assert!(Name::new(name).is_ok(), "{name}");
        }
        let wrong = [
            "",
            ".md",
            "a",
            "a.txt",
            "/etc/a.md",
            "../a.md",
            "a/../../b.md",
            "a//b.md",
            "a/.git/b.md",
            "..\\a.md",
            "C:a.md",
            "a\n.md",
            "a](x).md",
            "~/.md",
        ];
        for name in wrong {
            assert!(Name::new(name).is_err(), "{name}");
        }
    }

    #[test]
    fn the_index_is_no_memory() {
        assert!(Name::new("MEMORY.md").unwrap().is_index());
        assert!(Name::of_memory("MEMORY.md").is_err());
        assert!(Name::of_memory("./memory.md").is_err());
        assert!(Name::of_memory("old/MEMORY.md").is_ok());
    }
}
