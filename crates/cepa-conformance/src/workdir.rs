//! A temporary folder for what a case keeps in files.

use std::{io, path::Path, sync::OnceLock};

use serde_json::Value;
use tempfile::TempDir;

/// What the cases call it.
const TAG: &str = "<<workdir>>";

/// A folder that is made when it is asked for, and deleted with the case.
#[derive(Debug, Default)]
pub(crate) struct Workdir(OnceLock<TempDir>);

impl Workdir {
    /// Where it is.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn path(&self) -> io::Result<&Path> {
        if self.0.get().is_none() {
            // Another one that was made meanwhile is as good.
            _ = self.0.set(TempDir::new()?);
        }
        self.0.get().map(TempDir::path).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Puts the tag in the place of its path, in all texts of a recording.
    pub(crate) fn hide(&self, recording: &mut Value) {
        if let Some(folder) = self.0.get() {
            hide(&folder.path().display().to_string(), recording);
        }
    }
}

fn hide(path: &str, value: &mut Value) {
    match value {
        Value::String(text) if text.contains(path) => *text = text.replace(path, TAG),
        Value::Array(items) => items.iter_mut().for_each(|item| hide(path, item)),
        Value::Object(fields) => fields.values_mut().for_each(|field| hide(path, field)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn its_path_is_hidden_wherever_it_stands() {
        let folder = Workdir::default();
        let path = folder.path().unwrap().display().to_string();
        let mut value = json!({"a": [format!("see {path}/a.md and {path}"), 1], "b": "/tmp"});
        folder.hide(&mut value);
        assert_eq!(value, json!({"a": ["see <<workdir>>/a.md and <<workdir>>", 1], "b": "/tmp"}));
    }
}
