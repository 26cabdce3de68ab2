//! Which memories there are.

use std::{io, time::SystemTime};

use cap_std::fs::Dir;
use jiff::Timestamp;

use super::{cut::cut, folder::Open, front_matter::FrontMatter, name::INDEX};

/// How far front matter is read: its end must be within these bytes.
const HEAD_BYTES: u64 = 64 << 10;
/// How deep folders are looked into.
const DEPTH: usize = 8;
/// The most tokens of a type.
const TYPE_TOKENS: usize = 8;

/// A memory file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Its path below the folder, with `/`.
    pub(super) path: String,
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
        collect(self.dir(), "", DEPTH, &mut found)?;
        found.retain(|file| file.path != INDEX);
        found.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
        Ok(found)
    }

    /// A line for each of these memories. What it says of itself is within so many tokens.
    pub(super) fn manifest(&self, files: &[Found], max_tokens: usize) -> String {
        let lines: Vec<_> = files.iter().map(|file| self.manifest_line(file, max_tokens)).collect();
        lines.join("\n")
    }

    fn manifest_line(&self, file: &Found, max_tokens: usize) -> String {
        // A file that is gone or cannot be read is listed by what is known of it.
        let head = self.head(&file.path, HEAD_BYTES).unwrap_or_default();
        let matter = FrontMatter::read(&String::from_utf8_lossy(&head));
        let mut line = "- ".to_owned();
        if let Some(kind) = &matter.kind {
            line += &format!("[{}] ", cut(kind, TYPE_TOKENS.min(max_tokens)));
        }
        line += &format!("{} ({})", file.path, date(file.modified));
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

fn collect(dir: &Dir, prefix: &str, depth: usize, found: &mut Vec<Found>) -> io::Result<()> {
    for entry in dir.entries()? {
        let entry = entry?;
        // A name that is no text, or would break the line it stands in, cannot be asked for either.
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.starts_with('.') || name.chars().any(char::is_control) {
            continue;
        }
        // Files come and go meanwhile: what cannot be looked at is left out.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 0 {
            if let Ok(dir) = entry.open_dir() {
                collect(&dir, &format!("{prefix}{name}/"), depth - 1, found)?;
            }
        } else if kind.is_file()
            && name.ends_with(".md")
            && let Ok(metadata) = entry.metadata()
        {
            let modified = metadata.modified().map_or(SystemTime::UNIX_EPOCH, |time| time.into_std());
            found.push(Found { path: format!("{prefix}{name}"), modified });
        }
    }
    Ok(())
}
