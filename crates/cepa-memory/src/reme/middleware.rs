//! The layer.

use std::{sync::Arc, time::Duration};

use cepa_core::{
    ContentBlock, Cx, HintBlock, Id, Middleware, Msg, Next, Reasoning, ReasoningInput, Reply, ReplyInput,
    Result, Role, SystemPrompt, Tool, middleware,
};

use super::{
    ReMe, ReMeMiddlewareBuilder,
    found::{Searches, beside},
    memory::Memory,
    tool::MemorySearchTool,
};
use crate::{
    FlushError, Mode,
    query::query_text,
    texts,
    turn::{Turn, run_turn},
    writes::{Origin, Writes},
};

/// Long-term memory in a ReMe service (AgentScope 2.0.11's middleware of the same name; there ReMe runs in the process).
///
/// Each turn that has ended with an answer is handed to ReMe once and whole, in the background, under the session's id:
/// also when a person was asked in between, or the context was compressed. Replies that wait, failed or were interrupted
/// are not. Turns of one session are written in their order, those of others beside them. A search runs beside the reply,
/// and what it finds is put into the reply's message as a hint before the first round that is asked after that; the model
/// may search with the tool `memory_search`. [`Mode`] says which.
///
/// ReMe keeps no users apart: a search finds what was said in any session. Give each user, or each group that may know of
/// each other, a service of their own.
///
/// A service that does not work never ends a reply. The log says once that it does not, and once that it does again. One
/// instance serves any number of agents; what it holds is its settings, what waits to be written, and what the log has
/// said.
///
/// ```no_run
/// use std::time::Duration;
/// use cepa_memory::{Mode, ReMeMiddleware, ReMeService};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let reme = ReMeService::builder("http://127.0.0.1:8002").build()?;
/// let memory = ReMeMiddleware::builder(reme).mode(Mode::Both).connect().await?;
/// let memory = std::sync::Arc::new(memory);
/// // Agent::builder("Friday").middleware(memory.clone())…
/// memory.flush(Duration::from_secs(60)).await?; // before the program ends
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct ReMeMiddleware {
    pub(super) mode: Mode,
    pub(super) wait_up_to: Duration,
    pub(super) memory: Arc<Memory>,
    pub(super) writes: Writes,
}

impl ReMeMiddleware {
    /// A layer that remembers in this ReMe.
    pub fn builder(client: impl ReMe) -> ReMeMiddlewareBuilder {
        ReMeMiddlewareBuilder::new(Arc::new(client))
    }

    /// Waits until every turn that has ended is remembered, or has failed to be. ReMe finds what is remembered once it has
    /// looked at its files again, which is some seconds later.
    ///
    /// # Errors
    /// It takes longer than this; or turns were dropped, see [`FlushError`].
    pub async fn flush(&self, limit: Duration) -> std::result::Result<(), FlushError> {
        self.writes.flush(limit).await
    }

    /// Has a turn remembered in the background, after the others of its session.
    fn remember(&self, turn: Turn<()>, session_id: &Id) {
        let Some(messages) = worth_remembering(turn) else { return };
        let (memory, session_id, lane) = (self.memory.clone(), session_id.clone(), session_id.to_string());
        let origin = Origin { session: Some(session_id.clone()), user: None };
        let write = async move { memory.write(&messages, &session_id).await };
        self.writes.push(lane, origin, Box::pin(write));
    }

    /// What tells this layer from another one of its kind in the same agent.
    fn id(&self) -> usize {
        Arc::as_ptr(&self.memory).addr()
    }
}

#[middleware]
impl Middleware for ReMeMiddleware {
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        if self.mode.has_tools() {
            vec![Arc::new(MemorySearchTool::new(self.memory.clone()))]
        } else {
            Vec::new()
        }
    }

    async fn on_reply(&self, cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        let session_id = cx.state()?.session_id.clone();
        let query = if self.mode.is_static() { query_text(&input.inputs) } else { None };
        let left = |turn, _output| self.remember(turn, &session_id);
        let reply = run_turn(&cx, input, next, None, |_| Ok(()), left);
        let (result, turn) = match query {
            Some(query) => {
                let finder = Searches::begin(cx.scratch(), self.id(), self.wait_up_to);
                let search = async {
                    // Whoever waits learns of a failure, too: the sender is dropped.
                    if let Ok(memories) = self.memory.search(query, self.memory.top_k).await {
                        _ = finder.send(memories);
                    }
                };
                beside(search, reply).await
            }
            None => reply.await,
        };
        if let Some(turn) = turn {
            self.remember(turn, &session_id);
        }
        result
    }

    async fn on_reasoning(
        &self,
        cx: Cx<Reasoning>,
        input: ReasoningInput,
        next: Next<Reasoning>,
    ) -> Result<Option<Msg>> {
        let memories = Searches::take(cx.scratch(), self.id()).await;
        if !memories.is_empty() {
            let hint = HintBlock::new(self.memory.limits.hint(&memories));
            cx.state()?.append_context(cx.agent_name(), [ContentBlock::Hint(hint)]);
        }
        next.run(input).await
    }

    async fn on_system_prompt(&self, _cx: Cx<SystemPrompt>, prompt: String) -> Result<String> {
        if !self.mode.has_tools() {
            return Ok(prompt);
        }
        Ok(format!("{prompt}\n\n{}", texts::PROMPT_REME_TOOLS))
    }
}

/// The messages of a turn in which a user was answered in words (AgentScope 2.0.11 keeps these only).
fn worth_remembering(turn: Turn<()>) -> Option<Vec<Arc<Msg>>> {
    let says = |msg: &Msg| msg.text().is_some_and(|text| !text.trim().is_empty());
    let is_exchange = turn.asked.iter().any(|msg| msg.role == Role::User && says(msg)) && says(&turn.said);
    let mut messages = turn.asked;
    messages.push(Arc::new(turn.said));
    is_exchange.then_some(messages)
}
