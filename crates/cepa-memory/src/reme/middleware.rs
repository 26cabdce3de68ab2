//! The layer.

use std::{sync::Arc, time::Duration};

use cepa_core::{
    ContentBlock, Cx, HintBlock, Middleware, Msg, Next, Reasoning, ReasoningInput, Reply, ReplyInput, Result,
    Role, SystemPrompt, Tool, middleware,
};
use tokio::time::Instant;

use super::{
    ReMe, ReMeMiddlewareBuilder,
    found::{Found, Looked, beside},
    memory::Memory,
    tool::MemorySearchTool,
};
use crate::{
    Mode, Pending,
    query::query_text,
    texts,
    turn::{Turn, run_turn},
    writes::Writes,
};

/// Long-term memory in a ReMe service (AgentScope 2.0.11's middleware of the same name; there ReMe runs in the process).
///
/// Each turn that has ended with an answer is handed to ReMe once and whole, in the background, under the session's id:
/// also when a person was asked in between, or the context was compressed. Replies that wait, failed or were interrupted
/// are not. A search runs beside the reply, and what it finds is put into the reply's message as a hint before the first
/// round that is asked after that; the model may search with the tool `memory_search`. [`Mode`] says which.
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

    /// Waits until every turn that has ended is remembered, or has failed to be.
    ///
    /// # Errors
    /// It takes longer than this.
    pub async fn flush(&self, limit: Duration) -> Result<(), Pending> {
        self.writes.flush(limit).await
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
        let reply = run_turn(&cx, input, next, |_| Ok(()));
        let (result, turn) = match query {
            Some(query) => {
                let (found, finder) = Found::until(Instant::now() + self.wait_up_to);
                cx.scratch().insert(found);
                let search = async {
                    // Whoever waits learns of a failure, too: the sender is dropped.
                    if let Ok(memories) = self.memory.search(&query, self.memory.top_k).await {
                        _ = finder.send(memories);
                    }
                };
                beside(search, reply).await
            }
            None => reply.await,
        };
        if let Some(messages) = turn.and_then(worth_remembering) {
            let memory = self.memory.clone();
            self.writes.push(Box::pin(async move { memory.write(&messages, &session_id).await }));
        }
        result
    }

    async fn on_reasoning(
        &self,
        cx: Cx<Reasoning>,
        input: ReasoningInput,
        next: Next<Reasoning>,
    ) -> Result<Option<Msg>> {
        if let Some(found) = cx.scratch().take::<Found>() {
            match found.look().await {
                Looked::Searching(found) => _ = cx.scratch().insert(found),
                Looked::Done(memories) if memories.is_empty() => {}
                Looked::Done(memories) => {
                    let hint = HintBlock::new(texts::memories_hint(&memories));
                    cx.state()?.append_context(cx.agent_name(), [ContentBlock::Hint(hint)]);
                }
            }
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
fn worth_remembering(turn: Turn) -> Option<Vec<Arc<Msg>>> {
    let says = |msg: &Msg| msg.text().is_some_and(|text| !text.trim().is_empty());
    let is_exchange = turn.asked.iter().any(|msg| msg.role == Role::User && says(msg)) && says(&turn.said);
    let mut messages = turn.asked;
    messages.push(Arc::new(turn.said));
    is_exchange.then_some(messages)
}
