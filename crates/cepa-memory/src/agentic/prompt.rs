//! The part of the system prompt that is about memory.

use std::borrow::Cow;

use cepa_core::texts::fill;

use super::{cut::cut, inert::inert, name::INDEX, settings::Memory};
use crate::texts;

impl Memory {
    /// The prompt with the instructions and the index.
    pub(super) async fn add_to(&self, prompt: &str) -> String {
        let settings = &self.settings;
        let folder = self.folder.root().display().to_string();
        let instructions = fill(&self.instructions(), &[("memory_dir", &folder)]);
        let mend = !settings.read_only;
        let index = match self.blocking(move |open| open.whole_index(mend)).await {
            Ok((index, mended)) => {
                if let Err(error) = mended {
                    tracing::warn!(%error, "the index of memories cannot be completed");
                }
                self.bounded(&String::from_utf8_lossy(&index))
            }
            Err(error) => {
                tracing::warn!(%error, "the index of memories cannot be read");
                texts::MEMORY_UNREADABLE.to_owned()
            }
        };
        format!("{prompt}\n\n{instructions}\n## {INDEX}\n{index}")
    }

    /// What the program wants to be said, or what fits the tools: no other tool is spoken of.
    fn instructions(&self) -> Cow<'_, str> {
        let settings = &self.settings;
        match (&settings.memory_instructions, settings.tools) {
            (Some(instructions), _) => instructions.into(),
            (None, true) if !settings.read_only => texts::PROMPT_AGENTIC_MEMORY.into(),
            (None, false) if !settings.read_only => texts::PROMPT_AGENTIC_MEMORY_WITHOUT_TOOLS.into(),
            (None, tools) => {
                let look = if tools { texts::MEMORY_LOOK } else { texts::MEMORY_LOOK_WITHOUT_TOOLS };
                fill(texts::PROMPT_AGENTIC_MEMORY_READ_ONLY, &[("look", look)]).into()
            }
        }
    }

    fn bounded(&self, index: &str) -> String {
        if index.is_empty() {
            let can_save = self.settings.tools && !self.settings.read_only;
            return if can_save { texts::MEMORY_EMPTY } else { texts::MEMORY_NONE }.to_owned();
        }
        let shown = cut(index, self.settings.memory_max_tokens);
        if shown.len() == index.len() {
            return inert(index);
        }
        // Lines are counted from 1, and the last one may be cut: whoever reads on begins with it.
        let offset = shown.matches('\n').count() + 1;
        let left_out = index[shown.len()..].matches('\n').count();
        let values = [
            ("lines", &*left_out.to_string()),
            ("offset", &offset.to_string()),
            ("file", &self.path_of(INDEX)),
        ];
        format!("{}{}", inert(shown), fill(texts::MEMORY_TRUNCATED, &values))
    }
}
