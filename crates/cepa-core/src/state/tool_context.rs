//! [`ToolContext`]: what tools remember.

use crate::{fields::Fields, wire::wire};

/// What tools remember between calls.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolContext {
    /// How many files are kept in the cache at most; more than 1.
    pub max_cache_files: u32,
    /// How large the cached files may be together, in KiB as AgentScope counts them; more than 10 000.
    pub max_cache_bytes: f64,
    /// Files that were read, the latest last.
    pub read_file_cache: Vec<ReadCacheEntry>,
    /// The tool groups that are switched on.
    pub activated_groups: Vec<String>,
    /// Fields that this version does not know.
    pub extra: Fields,
}

impl Default for ToolContext {
    fn default() -> Self {
        Self {
            max_cache_files: 100,
            max_cache_bytes: 25_000.0,
            read_file_cache: Vec::new(),
            activated_groups: Vec::new(),
            extra: Fields::new(),
        }
    }
}

impl ToolContext {
    /// Checks the limits. Reading from JSON checks them too.
    ///
    /// # Errors
    ///
    /// The limit that is too low.
    pub fn validate(&self) -> Result<(), ToolContextError> {
        if self.max_cache_files <= 1 {
            return Err(ToolContextError::MaxCacheFiles(self.max_cache_files));
        }
        if self.max_cache_bytes <= 10_000.0 {
            return Err(ToolContextError::MaxCacheBytes(self.max_cache_bytes));
        }
        Ok(())
    }

    /// The lines of a file that were read before, if the file has not changed since: `mtime` is its modification
    /// time now, in seconds since 1970 UTC, from where it was read; `None` if there is no such file any more. An entry
    /// that is found counts as the latest one; one that is out of date is dropped.
    ///
    /// ```
    /// let mut tools = cepa_core::ToolContext::default();
    /// tools.cache_file("/notes.txt", vec!["Buy onions.".to_owned()], 17.5);
    /// assert_eq!(tools.get_cache("/notes.txt", Some(17.5)).unwrap().lines, ["Buy onions."]);
    /// assert!(tools.get_cache("/notes.txt", Some(18.0)).is_none());
    /// ```
    pub fn get_cache(&mut self, file_path: &str, mtime: Option<f64>) -> Option<&ReadCacheEntry> {
        let place = self.read_file_cache.iter().position(|entry| entry.file_path == file_path)?;
        if Some(self.read_file_cache[place].updated_at) != mtime {
            self.read_file_cache.remove(place);
            return None;
        }
        self.read_file_cache[place..].rotate_left(1);
        self.read_file_cache.last()
    }

    /// Keeps the lines of a file that was last changed at `mtime`, in seconds since 1970 UTC. The entries that were
    /// not used for longest give way, as far as the limits ask for it; a file that is too large alone is not kept.
    pub fn cache_file(&mut self, file_path: impl Into<String>, lines: Vec<String>, mtime: f64) {
        let new = ReadCacheEntry::new(file_path, lines, mtime);
        let cache = &mut self.read_file_cache;
        cache.retain(|entry| entry.file_path != new.file_path);
        if new.bytes > self.max_cache_bytes {
            return;
        }
        let mut count = cache.len() + 1;
        let mut size = new.bytes + cache.iter().map(|entry| entry.bytes).sum::<f64>();
        let give_way = cache.iter().take_while(|entry| {
            let over = count > self.max_cache_files as usize || size > self.max_cache_bytes;
            count -= 1;
            size -= entry.bytes;
            over
        });
        let give_way = give_way.count();
        cache.drain(..give_way);
        cache.push(new);
    }

    /// Drops the files that are not to be kept, such as those of which the context says nothing any more.
    pub fn clean_file_cache(&mut self, keep: impl Fn(&str) -> bool) {
        self.read_file_cache.retain(|entry| keep(&entry.file_path));
    }
}

wire!(ToolContext, "a tool context", check ToolContext::validate, {
    max_cache_files = 100,
    max_cache_bytes = 25_000.0,
    read_file_cache = Vec::new(),
    activated_groups = Vec::new(),
});

/// A limit of a [`ToolContext`] that is too low.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolContextError {
    /// Too few files.
    #[error("max_cache_files: {0} is too low, it must be more than 1")]
    MaxCacheFiles(u32),
    /// Too little room.
    #[error("max_cache_bytes: {0} is too low, it must be more than 10000")]
    MaxCacheBytes(f64),
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReadCacheEntry {
    /// The file's lines.
    pub lines: Vec<String>,
    /// The file's modification time, in seconds since 1970 UTC. The entry counts only while it is the file's.
    pub updated_at: f64,
    /// How large the lines are together, in KiB as AgentScope counts them.
    pub bytes: f64,
    /// The file.
    pub file_path: String,
    /// Fields that this version does not know.
    pub extra: Fields,
}

impl ReadCacheEntry {
    /// Lines of a file that was last changed at `updated_at` (seconds since 1970 UTC).
    pub fn new(file_path: impl Into<String>, lines: Vec<String>, updated_at: f64) -> Self {
        let bytes = lines.iter().map(String::len).sum::<usize>() as f64 / 1024.0;
        Self { lines, updated_at, bytes, file_path: file_path.into(), extra: Fields::new() }
    }
}

wire!(ReadCacheEntry, "a cached file", { lines, updated_at, bytes, file_path });
