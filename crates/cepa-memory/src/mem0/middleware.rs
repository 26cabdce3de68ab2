//! mem0 as a layer.

use std::{fmt, sync::Arc, time::Duration};

use cepa_core::{
    AgentEvent, Cx, EventKind, HintBlock, Middleware, Msg, Next, Reply, ReplyInput, Result, SystemPrompt,
    Tool, middleware,
};

use tokio::time::timeout;

use super::{
    backend::{Mem0, Mem0Message},
    builder::Mem0Builder,
    exchange::exchange,
    memory::{Memory, Note},
    scope::MemoryScope,
    tools,
};
use crate::{
    FlushError, Mode,
    query::query_text,
    turn::{run_turn, waiting},
};

/// Who memories are told by in the context.
const MEMORY: &str = "memory";

/// Long-term memory by mem0 (AgentScope 2.0.11's middleware of the same name).
///
/// By itself it searches for what the user says, before the reply, and puts what it found into the context as a hint; after
/// a turn that ended with an answer it writes question and answer, in the background. By tools the model searches and adds
/// what it wants. [`Mode`] says which.
///
/// A search or a write that fails, or takes too long, is logged, the first of its kind as a warning, and the reply goes on.
/// One instance serves any number of agents, and of users: see [`MemoryScope`]. Ids never come from the model. Writes for one user and agent are made
/// in their order, those for others beside them.
pub struct Mem0Middleware {
    pub(super) memory: Arc<Memory>,
    pub(super) mode: Mode,
    pub(super) infer: bool,
    pub(super) await_write: bool,
    pub(super) tool_instructions: String,
}

impl Mem0Middleware {
    /// A layer before this backend.
    pub fn builder(client: impl Mem0) -> Mem0Builder {
        Mem0Builder::new(client)
    }

    /// Waits until what there is to write is written, or has failed. Call it before the program ends.
    ///
    /// # Errors
    /// The time is over, and the writes go on; or writes were dropped, see [`FlushError`].
    pub async fn flush(&self, limit: Duration) -> std::result::Result<(), FlushError> {
        self.memory.writes.flush(limit).await
    }

    /// The memories for a question, as a message. A failure is logged.
    async fn recall(&self, scope: &MemoryScope, question: String) -> Option<Msg> {
        let found = self.memory.search(scope, vec![question], self.memory.top_k).await.ok()?.memories;
        let hint = || HintBlock::new(self.memory.limits.hint(&found));
        (!found.is_empty()).then(|| Msg::assistant(MEMORY, vec![hint().into()]))
    }

    fn note(&self, messages: Vec<Mem0Message>) -> Note {
        Note { messages, infer: self.infer, anyway: false }
    }

    /// Whose memories a reply works with: those of who has asked, also where another lets it go on.
    fn scope(&self, cx: &Cx<Reply>) -> Result<Option<MemoryScope>> {
        if let Some(scope) = waiting(cx)?.and_then(|turn| turn.whose) {
            return Ok(Some(scope));
        }
        Ok(match self.memory.scope(cx.context()) {
            Ok(scope) => Some(scope),
            Err(error) => {
                tracing::warn!(%error, "the reply has no memory");
                None
            }
        })
    }
}

#[middleware]
impl Middleware for Mem0Middleware {
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        if self.mode.has_tools() { tools::of(&self.memory) } else { Vec::new() }
    }

    async fn on_reply(&self, cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        let Some(scope) = self.scope(&cx)? else { return next.run(input).await };
        self.memory.enter(cx.scratch(), scope.clone());
        let session_id = cx.state()?.session_id.clone();
        let is_static = self.mode.is_static();
        let mut found = match query_text(&input.inputs).filter(|_| is_static) {
            Some(question) => self.recall(&scope, question).await,
            None => None,
        };
        let mut ran = false;
        let look = |event: &AgentEvent| {
            // The user's message is in the context now, and nothing after it.
            if matches!(event.kind, EventKind::ReplyStart { .. }) {
                ran = true;
                if let Some(found) = found.take() {
                    cx.state()?.context.push(Arc::new(found));
                }
            }
            Ok(())
        };
        let left = |turn, output: Option<_>| {
            if let Some(messages) = exchange(&turn, output.as_ref(), None).filter(|_| is_static) {
                drop(self.memory.write(scope.clone(), Some(session_id.clone()), self.note(messages)));
            }
        };
        let (result, turn) = run_turn(&cx, input, next, Some(scope.clone()), look, left).await;
        if let (Ok(msg), Some(turn)) = (&result, turn.filter(|_| is_static)) {
            let instead = (!ran && turn.said.content.is_empty()).then_some(msg);
            if let Some(messages) = exchange(&turn, msg.structured_output.as_ref(), instead) {
                let written = self.memory.write(scope, Some(session_id), self.note(messages));
                if self.await_write {
                    // No longer than the write itself may take: it may stand behind others.
                    _ = timeout(self.memory.write_deadline, written).await;
                }
            }
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
