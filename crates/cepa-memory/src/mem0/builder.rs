//! Setting the layer up.

use std::{sync::Arc, time::Duration};

#[cfg(doc)]
use super::MemoryScope;
use super::{
    backend::{Mem0, TOP_K},
    memory::Memory,
    middleware::Mem0Middleware,
    texts,
};
use crate::{
    Mode, ServerError,
    limits::Limits,
    troubles::Troubles,
    writes::{Bounds, Writes},
};

/// How long a reply waits for memories, unless told otherwise.
const SEARCH_DEADLINE: Duration = Duration::from_secs(3);
/// How long `add_memory` waits, unless told otherwise.
const TOOL_DEADLINE: Duration = Duration::from_secs(3);
/// How long a write may take, unless told otherwise: a model reads what is written.
pub(super) const WRITE_DEADLINE: Duration = Duration::from_secs(60);

/// Sets a [`Mem0Middleware`] up.
#[must_use = "nothing is built until `build()`"]
pub struct Mem0Builder {
    memory: Memory,
    bounds: Bounds,
    scope_from_context: bool,
    mode: Mode,
    infer: bool,
    await_write: bool,
    tool_instructions: String,
}

impl std::fmt::Debug for Mem0Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mem0Builder").field("mode", &self.mode).finish_non_exhaustive()
    }
}

impl Mem0Builder {
    pub(super) fn new(client: impl Mem0) -> Self {
        Self {
            memory: Memory {
                client: Box::new(client),
                user_id: None,
                agent_id: None,
                scope_search_by_agent: true,
                top_k: TOP_K,
                threshold: None,
                search_deadline: SEARCH_DEADLINE,
                write_deadline: WRITE_DEADLINE,
                tool_deadline: TOOL_DEADLINE,
                limits: Limits::default(),
                troubles: Troubles::new("mem0"),
                writes: Writes::new("mem0", Bounds::default()),
            },
            bounds: Bounds::default(),
            scope_from_context: false,
            mode: Mode::default(),
            infer: true,
            await_write: false,
            tool_instructions: texts::PROMPT_MEM0_TOOLS.to_owned(),
        }
    }

    /// Whose memories these are, where a reply is not given a [`MemoryScope`].
    pub fn user_id(mut self, id: impl Into<String>) -> Self {
        self.memory.user_id = Some(id.into());
        self
    }

    /// Leaves it to each reply to say whose memories these are: `agent.reply(…).with(MemoryScope::user("alice"))`. A reply
    /// that does not has no memory.
    pub fn scope_from_context(mut self) -> Self {
        self.scope_from_context = true;
        self
    }

    /// The agent that writes, so that its memories can be told from those of others.
    pub fn agent_id(mut self, id: impl Into<String>) -> Self {
        self.memory.agent_id = Some(id.into());
        self
    }

    /// Whether a search finds only what this agent wrote (the default), or what any agent did. Of no effect without an agent
    /// id. On the platform it is more: see [`Mem0Platform`](super::Mem0Platform).
    pub fn scope_search_by_agent(mut self, only: bool) -> Self {
        self.memory.scope_search_by_agent = only;
        self
    }

    /// Who searches and writes: the layer, the model by tools, or both (the default).
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// How many memories are found at most; 5 by default.
    pub fn top_k(mut self, top_k: usize) -> Self {
        self.memory.top_k = top_k;
        self
    }

    /// The lowest score of what is found; the service's own by default.
    pub fn threshold(mut self, score: f64) -> Self {
        self.memory.threshold = Some(score);
        self
    }

    /// Whether mem0's model picks out what is worth remembering of a turn (the default); else question and answer are kept
    /// as they are, and nothing is lost.
    pub fn infer(mut self, infer: bool) -> Self {
        self.infer = infer;
        self
    }

    /// How long a search may take; 3 s by default. The reply goes on without memories then.
    pub fn search_deadline(mut self, limit: Duration) -> Self {
        self.memory.search_deadline = limit;
        self
    }

    /// How long a write may take; 60 s by default.
    pub fn write_deadline(mut self, limit: Duration) -> Self {
        self.memory.write_deadline = limit;
        self
    }

    /// How long the tool `add_memory` waits for what becomes of an addition; 3 s by default. Then it tells the model that
    /// it was taken in, and the write goes on in the background.
    pub fn tool_deadline(mut self, limit: Duration) -> Self {
        self.memory.tool_deadline = limit;
        self
    }

    /// The most tokens of a question or keyword that are searched for: of a longer one its beginning and its end. 2 000 by default.
    pub fn query_max_tokens(mut self, tokens: usize) -> Self {
        self.memory.limits.query = tokens;
        self
    }

    /// The most tokens of one memory that are shown to the model. 2 000 by default.
    pub fn max_tokens_per_memory(mut self, tokens: usize) -> Self {
        self.memory.limits.memory = tokens;
        self
    }

    /// The most tokens of all that one search has found. 8 000 by default.
    pub fn max_tokens_found(mut self, tokens: usize) -> Self {
        self.memory.limits.found = tokens;
        self
    }

    /// How many writes are made at once, each for another user or agent: those for one are made in their order. 16 by
    /// default.
    pub fn writes_at_once(mut self, writes: usize) -> Self {
        self.bounds.at_once = writes;
        self
    }

    /// How many writes may be unfinished. Further ones are dropped, and the log says whose. 1 024 by default.
    pub fn max_unfinished_writes(mut self, writes: usize) -> Self {
        self.bounds.unfinished = writes;
        self
    }

    /// Whether the reply waits until its turn is written, for as long as a [write](Self::write_deadline) may take: behind
    /// others it may take longer, and goes on. By default it does not wait: [`flush`](Mem0Middleware::flush) does, before
    /// the program ends.
    pub fn await_write(mut self, wait: bool) -> Self {
        self.await_write = wait;
        self
    }

    /// What the system prompt says of the tools.
    pub fn tool_instructions(mut self, text: impl Into<String>) -> Self {
        self.tool_instructions = text.into();
        self
    }

    /// Checks the settings and builds the layer.
    ///
    /// # Errors
    /// It is not said whose memories these are, or a setting cannot be.
    pub fn build(mut self) -> Result<Mem0Middleware, ServerError> {
        let memory = &mut self.memory;
        let is_blank = |id: &Option<String>| id.as_ref().is_some_and(|id| id.trim().is_empty());
        if let Some(setting) = memory.limits.zero().or(self.bounds.zero()) {
            return Err(ServerError::Settings(format!(
                "`{setting}` is 0: nothing would be found or written"
            )));
        }
        let wrong = if memory.user_id.is_none() && !self.scope_from_context {
            "it is not said whose memories these are: give a `user_id`, or `scope_from_context()`"
        } else if is_blank(&memory.user_id) || is_blank(&memory.agent_id) {
            "an id is blank: mem0 would take it for none"
        } else if memory.top_k == 0 {
            "`top_k` is 0: nothing would be found"
        } else if memory.threshold.is_some_and(|score| !score.is_finite()) {
            "`threshold` is no number"
        } else if [memory.search_deadline, memory.write_deadline, memory.tool_deadline]
            .iter()
            .any(Duration::is_zero)
        {
            "a deadline is 0: give it some time"
        } else {
            memory.writes = Writes::new("mem0", self.bounds);
            return Ok(Mem0Middleware {
                memory: Arc::new(self.memory),
                mode: self.mode,
                infer: self.infer,
                await_write: self.await_write,
                tool_instructions: self.tool_instructions,
            });
        };
        Err(ServerError::Settings(wrong.to_owned()))
    }
}
