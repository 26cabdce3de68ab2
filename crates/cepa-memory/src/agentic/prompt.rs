//! The part of the system prompt that is about memory.

use cepa_core::texts::fill;

use super::{cut::cut, name::INDEX, settings::Memory};
use crate::texts;

impl Memory {
    /// The prompt with the instructions and the index.
    pub(super) async fn add_to(&self, prompt: &str) -> String {
        let settings = &self.settings;
        let folder = self.folder.root().display().to_string();
        let instructions = fill(&settings.memory_instructions, &[("memory_dir", &folder)]);
        let index = match self.blocking(|open| open.index()).await {
            Ok(index) => self.bounded(&index),
            Err(error) => {
                tracing::warn!(%error, "the index of memories cannot be read");
                texts::MEMORY_UNREADABLE.to_owned()
            }
        };
        format!("{prompt}\n\n{instructions}\n## {INDEX}\n{index}")
    }

    fn bounded(&self, index: &str) -> String {
        if index.is_empty() {
            return texts::MEMORY_EMPTY.to_owned();
        }
        let shown = cut(index, self.settings.memory_max_tokens);
        if shown.len() == index.len() {
            return index.to_owned();
        }
        // Lines are counted from 1, and the last one may be cut: whoever reads on begins with it.
        let offset = shown.matches('\n').count() + 1;
        let left_out = index[shown.len()..].matches('\n').count();
        let values = [
            ("lines", &*left_out.to_string()),
            ("offset", &offset.to_string()),
            ("file", &self.path_of(INDEX)),
        ];
        format!("{shown}{}", fill(texts::MEMORY_TRUNCATED, &values))
    }
}
