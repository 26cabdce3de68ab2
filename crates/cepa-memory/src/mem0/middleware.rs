//! mem0 as a layer.

use std::{fmt, sync::Arc, time::Duration};

use cepa_core::{
    Cx, EventKind, HintBlock, Middleware, Msg, Next, Reply, ReplyInput, Result, SystemPrompt, Tool,
    middleware,
};

use super::{
    backend::{Mem0, Mem0Message},
    builder::Mem0Builder,
    exchange::exchange,
    memory::Memory,
    scope::MemoryScope,
    tools,
};
use crate::{
    Mode, Pending,
    query::query_text,
    texts::memories_hint,
    turn::run_turn,
    writes::{Write, Writes},
};

/// Who memories are told by in the context.
const MEMORY: &str = "memory";

/// Long-term memory by mem0 (AgentScope 2.0.11's middleware of the same name).
///
/// By itself it searches for what the user says, before the reply, and puts what it found into the context as a hint; after
/// a turn that ended with an answer it writes question and answer, in the background. By tools the model searches and adds
/// what it wants. [`Mode`] says which.
///
/// A search or a write that fails, or takes too long, is logged as a warning, and the reply goes on. One instance serves any
/// number of agents, and of users: see [`MemoryScope`]. Ids never come from the model.
pub struct Mem0Middleware {
    pub(super) memory: Arc<Memory>,
    pub(super) mode: Mode,
    pub(super) infer: bool,
    pub(super) await_write: bool,
    pub(super) tool_instructions: String,
    pub(super) writes: Writes,
}

impl Mem0Middleware {
    /// A layer before this backend.
    pub fn builder(client: impl Mem0) -> Mem0Builder {
        Mem0Builder::new(client)
    }

    /// Waits until the turns that have ended are written, or have failed. Call it before the program ends.
    ///
    /// # Errors
    /// The time is over; the writes go on.
    pub async fn flush(&self, limit: Duration) -> std::result::Result<(), Pending> {
        self.writes.flush(limit).await
    }

    /// The memories for a question, as a message. A failure is logged.
    async fn recall(&self, scope: &MemoryScope, question: String) -> Option<Msg> {
        let found = self.memory.search(scope, question, self.memory.top_k).await;
        self.memory.log("search", "the reply goes on without memories", found.as_ref().err());
        let found = found.ok().filter(|found| !found.is_empty())?;
        Some(Msg::assistant(MEMORY, vec![HintBlock::new(memories_hint(&found)).into()]))
    }

    async fn remember(&self, scope: MemoryScope, messages: Vec<Mem0Message>) {
        let (memory, infer) = (self.memory.clone(), self.infer);
        let write: Write = Box::pin(async move {
            let added = memory.add(scope, messages, infer).await;
            memory.log("write", "a turn is not written", added.as_ref().err());
            if let Ok(added) = added {
                tracing::debug!(?added, "a turn is written to mem0");
            }
        });
        if self.await_write { write.await } else { self.writes.push(write) }
    }
}

#[middleware]
impl Middleware for Mem0Middleware {
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        if self.mode.has_tools() { tools::of(&self.memory) } else { Vec::new() }
    }

    async fn on_reply(&self, cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        if !self.mode.is_static() {
            return next.run(input).await;
        }
        let scope = match self.memory.scope(cx.context()) {
            Ok(scope) => scope,
            Err(error) => {
                tracing::warn!(%error, "the reply has no memory");
                return next.run(input).await;
            }
        };
        let mut found = match query_text(&input.inputs) {
            Some(question) => self.recall(&scope, question).await,
            None => None,
        };
        let mut ran = false;
        let (result, turn) = run_turn(&cx, input, next, |event| {
            // The user's message is in the context now, and nothing after it.
            if matches!(event.kind, EventKind::ReplyStart { .. }) {
                ran = true;
                if let Some(found) = found.take() {
                    cx.state()?.context.push(Arc::new(found));
                }
            }
            Ok(())
        })
        .await;
        if let (Ok(msg), Some(turn)) = (&result, turn)
            && let Some(messages) = exchange(&turn, msg, ran)
        {
            self.remember(scope, messages).await;
        }
        result
    }

    async fn on_system_prompt(&self, _cx: Cx<SystemPrompt>, prompt: String) -> Result<String> {
        if !self.mode.has_tools() {
            return Ok(prompt);
        }
        Ok(format!("{prompt}\n\n{}", self.tool_instructions))
    }
}

impl fmt::Debug for Mem0Middleware {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mem0Middleware")
            .field("mode", &self.mode)
            .field("agent_id", &self.memory.agent_id)
            .finish_non_exhaustive()
    }
}
