//! The tools: listing, searching and reading the text files of a folder, and nothing outside of it.

use std::{
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
};

use cepa::prelude::*;
use ignore::WalkBuilder;

/// Larger files are not looked at.
const MAX_BYTES: u64 = 1024 * 1024;
/// Lines that a search shows at most.
const MAX_HITS: usize = 20;
/// Files that a listing shows at most.
const MAX_LISTED: usize = 200;

/// The folder that the tools may look into. The caller gives it to the reply: `.with(folder)`.
#[derive(Clone, Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        let root = path.canonicalize().map_err(|error| format!("cannot open {}: {error}", path.display()))?;
        if !root.is_dir() {
            return Err(format!("{} is not a folder", root.display()));
        }
        let folder = Self(root);
        if folder.files().next().is_none() {
            return Err(format!("{} holds no text file to answer from", folder.0.display()));
        }
        Ok(folder)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.0
    }

    /// The text files, as paths inside the folder, with their text. What git ignores is left out.
    fn files(&self) -> impl Iterator<Item = (String, String)> {
        let walk = WalkBuilder::new(&self.0).sort_by_file_path(Ord::cmp).build();
        walk.filter_map(Result::ok).filter_map(|entry| {
            let is_small = entry.metadata().is_ok_and(|data| data.is_file() && data.len() <= MAX_BYTES);
            let path = entry.path();
            let text = is_small.then(|| std::fs::read_to_string(path).ok()).flatten()?;
            let inside = path.strip_prefix(&self.0).ok()?.to_string_lossy().into_owned();
            Some((inside, text))
        })
    }

    /// A path of the model's, if it stays inside: no `..`, no link leads out.
    fn inside(&self, path: &str) -> Result<PathBuf, ToolError> {
        let found =
            self.0.join(path).canonicalize().map_err(|error| ToolError::new(format!("{path}: {error}")))?;
        if !found.starts_with(&self.0) {
            return Err(ToolError::new(format!("{path} is not in the folder")));
        }
        Ok(found)
    }
}

/// The folder of this reply.
fn folder(cx: &ToolCx) -> Result<&Folder, ToolError> {
    cx.context().ok_or_else(|| ToolError::developer("the reply was not given a `Folder`"))
}

/// Lists the text files of the folder, one path a line.
#[tool(read_only)]
pub(crate) fn list_files(cx: ToolCx) -> Result<String, ToolError> {
    let paths: Vec<_> = folder(&cx)?.files().map(|(path, _)| path).collect();
    let mut list = paths.iter().take(MAX_LISTED).map(|path| format!("{path}\n")).collect::<String>();
    if paths.len() > MAX_LISTED {
        let _ = writeln!(list, "… and {} more", paths.len() - MAX_LISTED);
    }
    Ok(list)
}

/// Searches the files for words and returns the lines that hold most of them, as `path:line: text`.
#[tool(read_only)]
pub(crate) fn search_files(
    /// The words to look for.
    query: String,
    cx: ToolCx,
) -> Result<String, ToolError> {
    let words: Vec<String> = words(&query).collect();
    if words.is_empty() {
        return Err(ToolError::new("give at least one word to look for"));
    }
    let mut hits = Vec::new();
    for (path, text) in folder(&cx)?.files() {
        if cx.is_interrupted() {
            break;
        }
        for (number, line) in text.lines().enumerate() {
            let lower = line.to_lowercase();
            let score = words.iter().filter(|word| lower.contains(word.as_str())).count();
            if score > 0 {
                hits.push((score, path.clone(), number + 1, line.trim().to_owned()));
            }
        }
    }
    hits.sort_by_key(|(score, ..)| std::cmp::Reverse(*score));
    let lines =
        hits.iter().take(MAX_HITS).map(|(_, path, number, line)| format!("{path}:{number}: {line}\n"));
    let found = lines.collect::<String>();
    Ok(if found.is_empty() { "nothing found".to_owned() } else { found })
}

/// Reads a file of the folder.
#[tool(read_only)]
pub(crate) fn read_file(
    /// The path, as the other tools show it.
    path: String,
    cx: ToolCx,
) -> Result<String, ToolError> {
    let found = folder(&cx)?.inside(&path)?;
    if std::fs::metadata(&found)?.len() > MAX_BYTES {
        return Err(ToolError::new(format!("{path} is too large to read")));
    }
    std::fs::read_to_string(&found).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => ToolError::new(format!("{path} is not a text file")),
        _ => error.into(),
    })
}

/// The words of a query that are worth looking for: short ones are in every line.
fn words(query: &str) -> impl Iterator<Item = String> {
    let words = query.split(|char: char| !char.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| word.chars().count() > 2 || !word.is_ascii())
}
