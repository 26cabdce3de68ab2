//! Which memories there are.

use std::{io, time::SystemTime};

use cap_std::fs::{Dir, DirEntry};
use jiff::Timestamp;

use super::{
    cut::cut,
    folder::Open,
    front_matter::{FrontMatter, MAX_BYTES},
    name::{MAX_FOLDERS, Name, is_part},
};

/// The most tokens of a type.
const TYPE_TOKENS: usize = 8;

/// A memory file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) name: Name,
    pub(super) modified: SystemTime,
}

impl Found {
    /// How long ago it was saved, in days.
    pub(super) fn age(&self) -> String {
        match self.modified.elapsed().unwrap_or_default().as_secs() / 86_400 {
            0 => "today".to_owned(),
            1 => "yesterday".to_owned(),
            days => format!("{days} days ago"),
        }
    }
}

impl Open {
    /// All memories, the newest first. Hidden files, links and the index are none.
    pub(super) fn list(&self) -> io::Result<Vec<Found>> {
        let mut found = Vec::new();
        collect(self.dir(), "", MAX_FOLDERS, &mut |name, entry| {
            if let Ok(metadata) = entry.metadata() {
                let modified = metadata.modified().map_or(SystemTime::UNIX_EPOCH, |time| time.into_std());
                found.push(Found { name, modified });
            }
        })?;
        found.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.name.cmp(&b.name)));
        Ok(found)
    }

    /// The names of all memories, in no order. Many times faster than a list of them.
    pub(super) fn names<C: Extend<Name> + Default>(&self) -> io::Result<C> {
        let mut names = C::default();
        collect(self.dir(), "", MAX_FOLDERS, &mut |name, _entry| names.extend([name]))?;
        Ok(names)
    }

    /// What a memory says of itself. One that is gone or cannot be read says nothing.
    pub(super) fn front_matter(&self, name: &Name) -> FrontMatter {
        let head = self.head(name.as_str(), MAX_BYTES as u64).unwrap_or_default();
        FrontMatter::read(&String::from_utf8_lossy(&head))
    }

    /// A line for each of these memories. What it says of itself is within so many tokens.
    pub(super) fn manifest(&self, files: &[Found], max_tokens: usize) -> String {
        let lines: Vec<_> = files.iter().map(|file| self.manifest_line(file, max_tokens)).collect();
        lines.join("\n")
    }

    fn manifest_line(&self, file: &Found, max_tokens: usize) -> String {
        let matter = self.front_matter(&file.name);
        let mut line = "- ".to_owned();
        if let Some(kind) = &matter.kind {
            line += &format!("[{}] ", cut(kind, TYPE_TOKENS.min(max_tokens)));
        }
        line += &format!("{} ({})", file.name, date(file.modified));
        match matter.description.as_deref().map(|text| cut(text, max_tokens)) {
            Some(description) if !description.is_empty() => line + ": " + description,
            _ => line,
        }
    }
}

fn date(time: SystemTime) -> String {
    Timestamp::try_from(time)
        .map_or_else(|_| "unknown".to_owned(), |time| time.strftime("%Y-%m-%d").to_string())
}

fn collect(dir: &Dir, prefix: &str, folders: usize, take: &mut dyn FnMut(Name, &DirEntry)) -> io::Result<()> {
    for entry in dir.entries()? {
        let entry = entry?;
        // A name that is no text, or would break the line it stands in, cannot be asked for either.
        let Ok(part) = entry.file_name().into_string() else { continue };
        if !is_part(&part) {
            continue;
        }
        // Files come and go meanwhile: what cannot be looked at is left out.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && folders > 0 {
            if let Ok(dir) = entry.open_dir() {
                collect(&dir, &format!("{prefix}{part}/"), folders - 1, take)?;
            }
        } else if kind.is_file()
            && let Ok(name) = Name::of_memory(&format!("{prefix}{part}"))
        {
            take(name, &entry);
        }
    }
    Ok(())
}
