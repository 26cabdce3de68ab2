//! [`BackgroundTools`]: tool calls that go on while the reply does.

mod builder;
mod calls;
mod hints;
mod output;
mod stop;
mod task;
mod texts;

use std::{collections::BTreeMap, pin::pin, sync::Arc, time::Duration};

use cepa_core::{
    Acting, ActingInput, AgentEvent, ContentBlock, Cx, EventKind, GENERATE_STRUCTURED_OUTPUT, Id, Items,
    Middleware, Msg, Next, OrderRule, Reasoning, ReasoningInput, Result, Tool, ToolChunk, ToolResponse,
    middleware,
};
use serde::{Deserialize, Serialize};
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, sleep_until},
};

pub use self::{
    builder::BackgroundToolsBuilder,
    calls::{BackgroundCall, BackgroundCalls, StillRunning},
};
use self::{calls::Told, output::Output, stop::ToolStop};

/// Lets a tool call that takes long go on in the background (AgentScope 2.0.11's tool offload).
///
/// A call that outlasts the time limit is answered with a placeholder that says so, and the reply goes on. What the call
/// comes to is told to the model as a hint before the next round, of this reply or of a later one of the session: the
/// whole output, also what had gone out before. So nothing is lost while the process lives. After a restart the model is
/// told that the call was lost: what is outstanding is kept with the session. The model may stop a call by the tool
/// `ToolStop`.
///
/// What runs in the background goes on when the reply ends, fails, is dropped or interrupted, up to its
/// [deadline](BackgroundToolsBuilder::deadline). [`calls`](Self::calls) gives the handle by which the program waits for
/// such calls and stops them. They live in this instance: give the same one (in an [`Arc`]) to all agents of the process,
/// those that go on with a saved session included. It must run in a tokio runtime; calls end with the runtime.
///
/// Never moved are tools that run elsewhere (`is_external`), the one that takes a structured output, and, unless they are
/// [named](BackgroundToolsBuilder::tool_after), those whose calls may not run beside others (`is_concurrency_safe`). A
/// tool that runs in the background after the end of the reply has no access to the session's state any more. An interrupt
/// before the move ends the call as ever.
///
/// ```
/// use std::time::Duration;
/// use cepa_core::{Agent, serde_json::json, testing::{Answer, ScriptedModel, ScriptedTool, ToolAnswer}};
/// use cepa_resilience::BackgroundTools;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([
///     Answer::new().tool_call("train", json!({})),
///     Answer::new().text("It trains. I will tell you."),
///     Answer::new().text("The training is done: 98 %."),
/// ]);
/// let train = ScriptedTool::new("train", [ToolAnswer::new().delay(Duration::from_secs(600)).text("98 %")]);
/// let background = BackgroundTools::builder().after(Duration::from_secs(10)).build()?;
/// let calls = background.calls();
/// let mut agent = Agent::builder("Friday").model(model.clone()).tool(train).middleware(background).build()?;
///
/// agent.reply("Train it.").await?; // after 10 s
/// let session = agent.state()?.session_id.clone();
/// calls.finished(&session, Duration::from_secs(3600)).await?; // after 10 minutes
/// agent.reply("And?").await?;
/// let asked = model.requests().pop().unwrap();
/// assert!(format!("{:?}", asked.messages).contains("98 %"));
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct BackgroundTools {
    after: Duration,
    deadline: Duration,
    tools: BTreeMap<String, Option<Duration>>,
    only_named: bool,
    most_output: usize,
    offers_stop: bool,
    calls: BackgroundCalls,
}

/// A call in the background that the model was not told the end of, as it is kept with the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Outstanding {
    id: Id,
    tool: String,
    call_id: Id,
}

/// In the metadata of a placeholder: the id of the task.
const TASK_ID: &str = "background_task_id";

impl BackgroundTools {
    /// The usual options: after 10 s, any tool.
    pub fn builder() -> BackgroundToolsBuilder {
        BackgroundToolsBuilder::default()
    }

    /// The handle of what runs in the background.
    pub fn calls(&self) -> BackgroundCalls {
        self.calls.clone()
    }

    /// How long a call of this tool may take before it is moved; `None` when it is never.
    fn limit_of(&self, cx: &Cx<Acting>, name: &str) -> Option<Duration> {
        if name == GENERATE_STRUCTURED_OUTPUT || name == stop::NAME {
            return None;
        }
        let tool = cx.toolkit().tool(name)?;
        match self.tools.get(name) {
            _ if tool.is_external() => None,
            Some(own) => *own,
            None if self.only_named || !tool.is_concurrency_safe() => None,
            None => Some(self.after),
        }
    }

    /// Moves a running call to the background and answers for it.
    async fn go_on(&self, cx: &Cx<Acting>, call: BackgroundCall, moved: Moved) -> Result<ToolResponse> {
        tracing::debug!(tool = %call.tool, task = %call.id, "a tool call goes on in the background");
        cx.detach();
        let text = texts::placeholder(&call, self.offers_stop);
        let id = call.id.to_string();
        let Moved { running, output, slot, until } = moved;
        self.calls.start(call, |stop, ends| task::run(running, output, slot, until, stop, ends));
        // What went out before stays.
        let text = if cx.sent() > 0 { format!("\n{text}") } else { text };
        cx.emit(ToolChunk::text(text)).await;
        Ok(ToolResponse::streamed().with_metadata(TASK_ID, id))
    }

    /// Notes a call as outstanding; an error when the session takes no note any more.
    fn note(cx: &Cx<Acting>, tool: &str, call_id: &Id) -> Result<BackgroundCall> {
        let session_id = cx.state()?.session_id.clone();
        let call =
            BackgroundCall { id: Id::new(), tool: tool.to_owned(), call_id: call_id.clone(), session_id };
        let noted = Outstanding { id: call.id.clone(), tool: call.tool.clone(), call_id: call_id.clone() };
        cx.my_state().update(|outstanding: &mut Vec<Outstanding>| outstanding.push(noted))?;
        Ok(call)
    }

    /// Puts what has come into the context. Returns the events that tell of it.
    fn deliver(&self, cx: &Cx<Reasoning>) -> Result<Vec<AgentEvent>> {
        let reply_id = cx.reply_id()?;
        let outstanding = cx.my_state().take::<Vec<Outstanding>>()?.unwrap_or_default();
        let (mut left, mut hints) = (Vec::new(), Vec::new());
        {
            let mut state = cx.state()?;
            for call in outstanding {
                match self.calls.take(&call.id, &state.session_id) {
                    Told::Running => left.push(call),
                    Told::Ended(ended) => hints.push(hints::of(&call, Some(ended))),
                    Told::Already => {}
                    Told::Unknown => {
                        tracing::warn!(tool = %call.tool, task = %call.id, "a tool call in the background was lost");
                        hints.push(hints::of(&call, None));
                    }
                }
            }
            // Of calls that the session does not know of: it was loaded as it was before them.
            for (call, ended) in self.calls.take_rest(&state.session_id) {
                let call = Outstanding { id: call.id, tool: call.tool, call_id: call.call_id };
                hints.push(hints::of(&call, Some(ended)));
            }
            let blocks = hints.iter().cloned().map(ContentBlock::Hint);
            if !hints.is_empty() {
                state.append_context(cx.agent_name(), blocks);
            }
        }
        if !left.is_empty() {
            cx.my_state().set(left)?;
        }
        let events = hints.into_iter().map(|hint| {
            AgentEvent::new(EventKind::HintBlock {
                reply_id: reply_id.clone(),
                block_id: hint.id,
                source: hint.source,
                hint: hint.hint,
            })
        });
        Ok(events.collect())
    }
}

/// What a call takes along to the background.
struct Moved {
    running: Items<Acting>,
    output: Output,
    slot: OwnedSemaphorePermit,
    until: Instant,
}

#[middleware]
impl Middleware for BackgroundTools {
    fn order(&self) -> &'static [OrderRule] {
        const LATER: &str = "inside, it sees the placeholder only: what comes later goes past it";
        const RULES: &[OrderRule] = &[
            OrderRule::outside_of("PiiGuard", LATER),
            OrderRule::outside_of("SecretScrub", LATER),
            OrderRule::outside_of("ToolOutputLimit", LATER),
            OrderRule::outside_of("AuditLog", LATER),
            OrderRule::outside_of("ToolErrorPolicy", LATER),
            OrderRule::outside_of(
                "ToolRetry",
                "inside, attempts that fail in the background are not tried again",
            ),
            OrderRule::outside_of("CircuitBreaker", "inside, failures in the background do not count"),
            OrderRule::outside_of(
                "ConcurrencyLimit",
                "inside, a call that goes on in the background gives its place away",
            ),
            OrderRule::outside_of(
                "Timeout",
                "inside, what goes on in the background has no limit but the deadline",
            ),
        ];
        RULES
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        if self.offers_stop { vec![Arc::new(ToolStop::new(self.calls()))] } else { Vec::new() }
    }

    async fn on_acting(
        &self,
        cx: Cx<Acting>,
        input: ActingInput,
        next: Next<Acting>,
    ) -> Result<ToolResponse> {
        let tool = input.tool_call.name.clone();
        let Some(limit) = self.limit_of(&cx, &tool) else { return next.run(input).await };
        let call_id = input.tool_call.id.clone();
        let begun = Instant::now();
        let mut running = next.stream(input);
        let mut output = Output::new(self.most_output);
        let mut slot = pin!(async {
            sleep_until(begun + limit).await;
            self.calls.slot().await
        });
        let slot = loop {
            tokio::select! {
                chunk = running.next() => match chunk {
                    Some(chunk) => {
                        output.add(&chunk);
                        cx.emit(chunk).await;
                        // A flood must not keep the clock from running.
                        tokio::task::consume_budget().await;
                    }
                    None => return running.finish().await,
                },
                slot = &mut slot => break slot,
            }
        };
        let noted = if cx.is_interrupted() { None } else { Self::note(&cx, &tool, &call_id).ok() };
        match (slot, noted) {
            (Some(slot), Some(call)) => {
                let moved = Moved { running, output, slot, until: begun + self.deadline };
                self.go_on(&cx, call, moved).await
            }
            // It ends here, and with it the reply or the program.
            _ => running.forward(&cx).await,
        }
    }

    async fn on_reasoning(
        &self,
        cx: Cx<Reasoning>,
        input: ReasoningInput,
        next: Next<Reasoning>,
    ) -> Result<Option<Msg>> {
        for event in self.deliver(&cx)? {
            cx.emit(event).await;
        }
        next.run(input).await
    }
}
