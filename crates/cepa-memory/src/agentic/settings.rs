//! Setting an agent's memory up.

use std::{path::Path, sync::Arc, time::Duration};

use cepa_core::{ChatModel, IntoShared};

use super::{
    error::AgenticMemoryError,
    folder::{Folder, Open},
    middleware::AgenticMemoryMiddleware,
};
use crate::texts;

/// Sets an [`AgenticMemoryMiddleware`] up.
#[must_use = "nothing is built until `build()`"]
#[derive(Clone)]
pub struct Builder {
    folder: std::path::PathBuf,
    settings: Settings,
}

#[derive(Clone)]
pub(super) struct Settings {
    pub(super) memory_max_tokens: usize,
    /// Those that fit the tools, if there are none.
    pub(super) memory_instructions: Option<String>,
    pub(super) retrieval: bool,
    pub(super) retrieval_model: Option<Arc<dyn ChatModel>>,
    pub(super) retrieval_instructions: String,
    pub(super) retrieval_max_files: usize,
    pub(super) retrieval_max_tokens_per_md: usize,
    pub(super) retrieval_max_tokens_per_frontmatter: usize,
    pub(super) wait: Duration,
    pub(super) tools: bool,
    pub(super) read_only: bool,
}

impl Builder {
    pub(super) fn new(folder: &Path) -> Self {
        let settings = Settings {
            memory_max_tokens: 4_000,
            memory_instructions: None,
            retrieval: true,
            retrieval_model: None,
            retrieval_instructions: texts::PROMPT_MEMORY_SELECTION.to_owned(),
            retrieval_max_files: 200,
            retrieval_max_tokens_per_md: 2_000,
            retrieval_max_tokens_per_frontmatter: 256,
            wait: Duration::ZERO,
            tools: true,
            read_only: false,
        };
        Self { folder: folder.to_owned(), settings }
    }

    /// The most tokens of the index `MEMORY.md` in the system prompt. 4 000 by default.
    pub fn memory_max_tokens(mut self, tokens: usize) -> Self {
        self.settings.memory_max_tokens = tokens;
        self
    }

    /// What the agent is told about its memory, before the index; by default what fits its tools. `{memory_dir}` stands
    /// for the folder; every other brace is text.
    pub fn memory_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.settings.memory_instructions = Some(instructions.into());
        self
    }

    /// Whether a model chooses memories for each turn while the reply runs (AgentScope's `retrieval_async`). `true` by
    /// default.
    pub fn retrieval(mut self, retrieval: bool) -> Self {
        self.settings.retrieval = retrieval;
        self
    }

    /// The model that chooses, by value or in an [`Arc`]; the agent's own by default. A small one will do.
    pub fn retrieval_model(mut self, model: impl IntoShared<dyn ChatModel>) -> Self {
        self.settings.retrieval_model = Some(model.into_shared());
        self
    }

    /// What the model that chooses is told.
    pub fn retrieval_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.settings.retrieval_instructions = instructions.into();
        self
    }

    /// How many memories are offered to the model that chooses: the newest. 200 by default.
    pub fn retrieval_max_files(mut self, files: usize) -> Self {
        self.settings.retrieval_max_files = files;
        self
    }

    /// The most tokens of each memory that was chosen. 2 000 by default.
    pub fn retrieval_max_tokens_per_md(mut self, tokens: usize) -> Self {
        self.settings.retrieval_max_tokens_per_md = tokens;
        self
    }

    /// The most tokens of a description that are shown to the model that chooses. 256 by default. Front matter is read
    /// up to its end all the same (up to 64 KiB).
    pub fn retrieval_max_tokens_per_frontmatter(mut self, tokens: usize) -> Self {
        self.settings.retrieval_max_tokens_per_frontmatter = tokens;
        self
    }

    /// How long the first round of a reply may wait for the memories that are being chosen. Not at all by default: then a
    /// reply of one round mostly goes without them.
    pub fn wait_up_to(mut self, time: Duration) -> Self {
        self.settings.wait = time;
        self
    }

    /// Whether the agent gets the tools for its memory. `true` by default; `false` for an agent that has tools of its own
    /// for files, or that is to know the index and the chosen memories alone.
    pub fn tools(mut self, tools: bool) -> Self {
        self.settings.tools = tools;
        self
    }

    /// Whether memories are only read: the agent gets the tools that list, read and search, and the layer itself writes
    /// nothing in the folder either. `false` by default.
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.settings.read_only = read_only;
        self
    }

    /// Checks the settings and builds the layer. The folder need not be there yet.
    ///
    /// # Errors
    /// A limit of 0, or a path that is none.
    pub fn build(self) -> Result<AgenticMemoryMiddleware, AgenticMemoryError> {
        let Self { folder, settings } = self;
        let limits = [
            ("memory_max_tokens", settings.memory_max_tokens),
            ("retrieval_max_files", settings.retrieval_max_files),
            ("retrieval_max_tokens_per_md", settings.retrieval_max_tokens_per_md),
            ("retrieval_max_tokens_per_frontmatter", settings.retrieval_max_tokens_per_frontmatter),
        ];
        for (setting, limit) in limits {
            if limit == 0 {
                return Err(AgenticMemoryError::Zero { setting });
            }
        }
        Ok(AgenticMemoryMiddleware::with(Memory {
            folder: Arc::new(Folder::new(&folder)?),
            settings: Arc::new(settings),
        }))
    }
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// A folder of memories, and how it is used.
#[derive(Clone)]
pub(super) struct Memory {
    pub(super) folder: Arc<Folder>,
    pub(super) settings: Arc<Settings>,
}

impl Memory {
    /// Works with the files, on a thread for that. A change for whose lock it still waits is not made when nobody waits
    /// for it any more.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Open) -> Result<T, AgenticMemoryError> + Send + 'static,
    ) -> Result<T, AgenticMemoryError> {
        let folder = self.folder.clone();
        let waits = Arc::new(());
        let call = Arc::downgrade(&waits);
        let done = tokio::task::spawn_blocking(move || work(&folder.open(call)?)).await;
        drop(waits);
        done.unwrap_or(Err(AgenticMemoryError::Thread))
    }

    /// A file's path for the model.
    pub(super) fn path_of(&self, file: &str) -> String {
        self.folder.root().join(file).display().to_string()
    }
}
