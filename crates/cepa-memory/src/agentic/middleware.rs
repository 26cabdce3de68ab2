//! The layer.

use std::{fmt, path::Path, pin::pin, sync::Arc};

use cepa_core::{
    Cx, HintBlock, Middleware, MiddlewareKey, Msg, Next, Reasoning, ReasoningInput, Reply, ReplyInput,
    Result, SystemPrompt, Tool, middleware,
};

use super::{
    error::AgenticMemoryError,
    selection::Choices,
    settings::{Builder, Memory},
    tools,
};
use crate::query::named_query_text;

/// Memory in Markdown files, which the agent keeps itself (AgentScope 2.0.11).
///
/// - The system prompt tells the agent how to keep memories, and shows the index `MEMORY.md` up to a limit. Lines that the
///   index lacks are added, and those of files that are gone dropped, so that people may change the folder by hand.
/// - Tools to read, write, edit, delete, search and list memories come with it. They do not leave the folder.
/// - While a reply runs, a model chooses the files that help with what was asked. They come in as a hint before the first
///   round at which they are known; the reply does not wait for them, unless [`Builder::wait_up_to`] says so.
///
/// Many agents and processes may share one folder: files are written whole, one after the other. What goes wrong with
/// memory is logged (or told to the model, by the tools) and never ends a reply. One layer serves any number of agents.
///
/// Files are worked with on tokio's threads for blocking work.
///
/// ```
/// # use cepa_core::{Agent, testing::ScriptedModel};
/// use cepa_memory::AgenticMemoryMiddleware;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let memory = AgenticMemoryMiddleware::new(folder.join("Memory"))?;
/// # let model = ScriptedModel::new(["Hello."]);
/// let mut agent = Agent::builder("Friday").model(model.clone()).middleware(memory).build()?;
/// agent.reply("Hi").await?;
/// assert!(model.requests()[0].messages[0].text().unwrap().contains("Long-term memory"));
/// # Ok(()) }
/// ```
pub struct AgenticMemoryMiddleware(Memory);

impl AgenticMemoryMiddleware {
    /// Memory in this folder, with the settings that a [`Builder`] has. The folder need not be there yet.
    ///
    /// # Errors
    /// A path that is none.
    pub fn new(folder: impl AsRef<Path>) -> Result<Self, AgenticMemoryError> {
        Self::builder(folder).build()
    }

    /// Memory in this folder, to be set up.
    pub fn builder(folder: impl AsRef<Path>) -> Builder {
        Builder::new(folder.as_ref())
    }

    pub(super) fn with(memory: Memory) -> Self {
        Self(memory)
    }

    /// What tells this layer from another one of its kind in the same agent.
    fn id(&self) -> usize {
        Arc::as_ptr(&self.0.folder).addr()
    }
}

#[middleware]
impl Middleware for AgenticMemoryMiddleware {
    fn key(&self) -> Option<MiddlewareKey> {
        None // it keeps nothing in the session
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        if self.0.settings.tools { tools::of(&self.0) } else { Vec::new() }
    }

    async fn on_system_prompt(&self, _cx: Cx<SystemPrompt>, prompt: String) -> Result<String> {
        Ok(self.0.add_to(&prompt).await)
    }

    async fn on_reply(&self, cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        let settings = &self.0.settings;
        let query = if settings.retrieval { named_query_text(&input.inputs) } else { None };
        let Some(query) = query else { return next.run(input).await };
        let found = Choices::begin(cx.scratch(), self.id(), settings.wait);
        let choosing = async {
            match self.0.choose(&cx, &query).await {
                // Nobody waits for them any more if it fails.
                Ok(Some(hint)) => _ = found.send(hint),
                Ok(None) => {}
                Err(error) => tracing::warn!(agent = cx.agent_name(), error, "no memories are chosen"),
            }
        };
        // Beside the reply, and no longer than it: what is not chosen by its end is dropped with it.
        let (mut reply, choosing) = (pin!(next.run(input)), pin!(choosing));
        tokio::select! {
            biased;
            result = &mut reply => result,
            () = choosing => reply.await,
        }
    }

    async fn on_reasoning(
        &self,
        cx: Cx<Reasoning>,
        input: ReasoningInput,
        next: Next<Reasoning>,
    ) -> Result<Option<Msg>> {
        if let Some(hint) = Choices::take(cx.scratch(), self.id()).await {
            cx.state()?.append_context(cx.agent_name(), [HintBlock::new(hint).into()]);
        }
        next.run(input).await
    }
}

impl fmt::Debug for AgenticMemoryMiddleware {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgenticMemoryMiddleware")
            .field("folder", &self.0.folder.root())
            .finish_non_exhaustive()
    }
}
