//! Names of memories.

use std::fmt;

use super::error::AgenticMemoryError;

/// The index, which is in the system prompt.
pub(super) const INDEX: &str = "MEMORY.md";
/// The longest a name may be, in bytes.
const MAX_BYTES: usize = 255;
/// How many folders a memory may be in, one in another.
pub(super) const MAX_FOLDERS: usize = 8;

/// The name of a memory, relative to the folder of memories. What has no such name is no memory: it is neither listed nor
/// read. That the file is in the folder, whatever links say, is the folder's business.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Name(String);

impl Name {
    /// # Errors
    /// What is wrong with the name.
    pub(super) fn new(name: &str) -> Result<Self, AgenticMemoryError> {
        let wrong = |rule| Err(AgenticMemoryError::Name { name: name.to_owned(), rule });
        let path = name.trim().strip_prefix("./").unwrap_or(name.trim());
        if path.len() > MAX_BYTES {
            return wrong("it must not be longer than 255 bytes");
        }
        if !path.ends_with(".md") {
            return wrong("it must end with `.md`");
        }
        if !path.split('/').all(is_part) {
            return wrong(
                "it must be relative to the folder of memories, without `..`, hidden files, `\\`, `<` and `>`",
            );
        }
        if path.split('/').count() > MAX_FOLDERS + 1 {
            return wrong("it must not be in more than 8 folders, one in another");
        }
        Ok(Self(path.to_owned()))
    }

    /// Checks that a new file can have this name, on whatever machine the folder is used. Files that somebody else put
    /// there may have others.
    ///
    /// # Errors
    /// What is wrong with the name.
    pub(super) fn check_new(&self) -> Result<(), AgenticMemoryError> {
        if self.0.contains(|sign| r#":*?"|()[]"#.contains(sign)) {
            let rule = "that of a new one may hold letters, digits, `-`, `_`, `.` and, between folders, `/`";
            return Err(AgenticMemoryError::Name { name: self.0.clone(), rule });
        }
        Ok(())
    }

    /// The name of a memory proper: not that of the index, which is kept beside the memories.
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

/// Whether a folder or a file of memories may be called so: it can be named in a line, and asked for.
pub(super) fn is_part(part: &str) -> bool {
    !part.is_empty()
        && !part.starts_with('.')
        && part.trim() == part
        // The last one stands for what was no text.
        && !part.contains(|sign: char| sign.is_control() || "\\<>\u{fffd}".contains(sign))
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
            assert!(Name::new(name).unwrap().check_new().is_ok(), "{name}");
        }
        // What somebody else put there.
        for name in ["Why?.md", "Meeting (2024) [draft].md", "12:30.md", "a](x).md"] {
            assert!(Name::new(name).unwrap().check_new().is_err(), "{name}");
        }
        let deep = "1/".repeat(MAX_FOLDERS) + "a.md";
        assert!(Name::new(&deep).is_ok());
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
            "a\n.md",
            "a /b.md",
            "a<b>.md",
            "~/.md",
            &format!("1/{deep}"),
            &format!("{}.md", "a".repeat(MAX_BYTES)),
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
