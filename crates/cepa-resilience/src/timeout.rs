//! [`Timeout`].

mod builder;
mod patience;

use std::{collections::BTreeMap, fmt, future::Future, time::Duration};

use cepa_core::{
    Acting, ActingInput, AgentEvent, ChatResponse, Cx, Error, ErrorKind, ErrorType, EventKind, Fields,
    HookSet, Jump, Middleware, MiddlewareKey, ModelCall, ModelError, ModelRequest, Msg, Next, OrderRule,
    Purpose, Reasoning, ReasoningInput, Reply, ReplyInput, Result, Scratch, ToolChunk, ToolResponse,
    ToolResultState, middleware,
};
use tokio::time::{Instant, timeout};

pub use self::builder::TimeoutBuilder;
use self::patience::{End, Late, Limits, Of, Patience};
use crate::{refused::as_refused, texts};

/// Limits how long things take: a reply, a round, a model call and its parts, a tool call.
///
/// | limit | when it is reached |
/// |---|---|
/// | [`model_call`](TimeoutBuilder::model_call), [`first_item`](TimeoutBuilder::first_item), [`idle`](TimeoutBuilder::idle) | the call fails with a [`ModelError`] that is worth a retry: a [`ModelRetry`](crate::ModelRetry) or [`ModelFallback`](crate::ModelFallback) outside goes on |
/// | [`tool_calls`](TimeoutBuilder::tool_calls), [`tool`](TimeoutBuilder::tool) | the tool is dropped, and the model is told in the call's result |
/// | [`reasoning`](TimeoutBuilder::reasoning) | the model call is dropped, and the reply fails with [`ErrorKind::Timeout`] |
/// | [`reply`](TimeoutBuilder::reply) | what runs is dropped, and the reply ends as [`AtReplyLimit`] says |
///
/// The time that readers of the stream take does not count for calls: a limit of 30 seconds is 30 seconds of waiting for the
/// model. For rounds and replies the clock runs on. The time in which a reply waits for a person counts for none: each
/// further run of the reply has its whole time again.
///
/// Dropping a tool stops it where it awaits. What it does in threads or elsewhere goes on.
///
/// ```
/// use std::time::Duration;
/// use cepa_core::{Agent, testing::{Answer, ScriptedModel}};
/// use cepa_resilience::{ModelRetry, Timeout};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let limits = Timeout::builder()
///     .reply(Duration::from_secs(600))
///     .first_item(Duration::from_secs(20))
///     .idle(Duration::from_secs(10))
///     .tool_calls(Duration::from_secs(60))
///     .tool("browser", Duration::from_secs(180))
///     .build()?;
/// let model = ScriptedModel::new([Answer::new().hangs(), "Hello!".into()]);
/// let mut agent =
///     Agent::builder("Friday").model(model).middleware(ModelRetry::default()).middleware(limits).build()?;
/// assert_eq!(agent.reply("Hi").await?.text().as_deref(), Some("Hello!"));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Timeout {
    reply: Option<Duration>,
    at_reply_limit: AtReplyLimit,
    reasoning: Option<Duration>,
    model: Limits,
    tool_calls: Option<Duration>,
    tools: BTreeMap<String, Duration>,
}

/// What becomes of a reply whose time is up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AtReplyLimit {
    /// It ends with what was said by then. A `CUSTOM` event named [`REPLY_TIMEOUT`] with the limit in seconds (`limit_s`)
    /// tells it from a reply that is whole.
    #[default]
    End,
    /// It fails with [`ErrorKind::Timeout`].
    Error,
}

/// The name of the event that tells that a reply's time was up.
pub const REPLY_TIMEOUT: &str = "reply_timeout";

/// A model call that took too long: the source of its [`ModelError`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} took longer than {limit:?}")]
#[non_exhaustive]
pub struct ModelTimeout {
    /// What was waited for.
    pub what: &'static str,
    /// The limit.
    pub limit: Duration,
}

/// How long what ignores that the time is up may go on: layers that wait outside of `next`, say.
const GRACE: Duration = Duration::from_secs(1);

/// When this reply and its round have to be over, by the layer that says so.
#[derive(Clone, Debug, Default)]
struct Ends(BTreeMap<(usize, bool), End>);

impl Timeout {
    /// No limit yet: at least one is to be given.
    pub fn builder() -> TimeoutBuilder {
        TimeoutBuilder::new()
    }

    fn id(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// Notes until when the reply or its round has to be over, and runs it; a little longer if it does not heed that.
    async fn within<T>(
        &self,
        scratch: &Scratch,
        (of, limit): (Of, Duration),
        run: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let key = (self.id(), of == Of::Round);
        let new = End { at: Instant::now() + limit, limit, of };
        let end = scratch.update(|ends: &mut Ends| {
            if of == Of::Round {
                // What a round that was dropped has left is not this one's. A reply that a layer outside runs again is
                // still the same reply.
                ends.0.remove(&key);
            }
            *ends.0.entry(key).or_insert(new)
        });
        let result = timeout(end.at.saturating_duration_since(Instant::now()) + GRACE, run).await;
        if of == Of::Round {
            scratch.update(|ends: &mut Ends| ends.0.remove(&key));
        }
        result.unwrap_or_else(|_| Err(is_over(end)))
    }

    /// Until when this layer has the reply, or its round, be over.
    fn end(&self, scratch: &Scratch, of: Of) -> Option<End> {
        if self.reply.is_none() && self.reasoning.is_none() {
            return None;
        }
        scratch.get::<Ends>()?.0.get(&(self.id(), of == Of::Round)).copied()
    }

    fn next_end(&self, scratch: &Scratch) -> Option<End> {
        let ends = [self.end(scratch, Of::Reply), self.end(scratch, Of::Round)];
        ends.into_iter().flatten().min_by_key(|end| end.at)
    }

    /// Whether the reply is to end because its time is up; if so, its reader is told.
    async fn tell_if_over(&self, cx: &Cx<Reasoning>) -> bool {
        let end = self.end(cx.scratch(), Of::Reply).filter(|end| end.at <= Instant::now());
        let Some(end) = end.filter(|_| self.at_reply_limit == AtReplyLimit::End) else { return false };
        tracing::warn!(limit = ?end.limit, "the time for the reply is up");
        let value = Fields::from_iter([("limit_s", end.limit.as_secs_f64())]);
        cx.emit(AgentEvent::new(EventKind::Custom { name: REPLY_TIMEOUT.into(), value })).await;
        true
    }

    fn model_error(&self, model: &str, late: ModelTimeout) -> Error {
        tracing::warn!(model, what = late.what, limit = ?late.limit, "model call took too long");
        let text = format!("model `{model}`: {late}");
        ModelError::new(ErrorType::Connection, text).with_source(late).into()
    }
}

/// What a reply is called in the error that its time is up.
const REPLY: &str = "the reply";

/// Whether the reply's time is up: no failure of the model or the tool that ran just then.
pub(crate) fn is_reply_over(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Timeout { what, .. } if what == REPLY)
}

fn is_over(end: End) -> Error {
    let what = match end.of {
        Of::Reply => REPLY,
        Of::Round => "a round of the reply",
    };
    ErrorKind::Timeout { what: what.to_owned(), limit: end.limit }.into()
}

#[middleware]
impl Middleware for Timeout {
    fn hooks(&self) -> HookSet {
        let (reply, reasoning) = (self.reply.is_some(), self.reasoning.is_some());
        let tools = self.tool_calls.is_some() || !self.tools.is_empty();
        let hooks = [
            (reply, HookSet::REPLY),
            (reply || reasoning, HookSet::REASONING),
            (reply || reasoning || !self.model.is_none(), HookSet::MODEL_CALL),
            (reply || tools, HookSet::ACTING),
        ];
        hooks.into_iter().filter(|(wanted, _)| *wanted).map(|(_, hook)| hook).collect()
    }

    fn key(&self) -> Option<MiddlewareKey> {
        None
    }

    fn order(&self) -> &'static [OrderRule] {
        const RULES: &[OrderRule] = &[
            OrderRule::inside_of(
                "ToolRetry",
                "outside, all attempts share one limit, and a hanging one is not tried again",
            ),
            OrderRule::inside_of("BackgroundTools", "outside, a call in the background has no limit"),
        ];
        RULES
    }

    async fn on_reply(&self, cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        match self.reply {
            Some(limit) => self.within(cx.scratch(), (Of::Reply, limit), next.run(input)).await,
            None => next.run(input).await,
        }
    }

    async fn on_reasoning(
        &self,
        cx: Cx<Reasoning>,
        input: ReasoningInput,
        next: Next<Reasoning>,
    ) -> Result<Option<Msg>> {
        if self.tell_if_over(&cx).await {
            return cx.jump(Jump::End, None);
        }
        let run = next.run(input);
        let message = match self.reasoning {
            Some(limit) => self.within(cx.scratch(), (Of::Round, limit), run).await?,
            None => run.await?,
        };
        if self.tell_if_over(&cx).await { cx.jump(Jump::End, message) } else { Ok(message) }
    }

    async fn on_model_call(
        &self,
        cx: Cx<ModelCall>,
        request: ModelRequest,
        next: Next<ModelCall>,
    ) -> Result<ChatResponse> {
        let limits = Limits { end: self.next_end(cx.scratch()), ..self.model };
        if limits.is_none() {
            return next.run(request).await;
        }
        let model = request.model.clone().unwrap_or_else(|| cx.model().clone());
        let is_step = request.purpose == Purpose::Chat;
        let sent = cx.sent();
        let (mut items, mut patience) = (next.stream(request), Patience::new(limits));
        let late = loop {
            match patience.next(&mut items).await {
                Ok(Some(item)) => {
                    let read = Instant::now();
                    cx.emit(item).await;
                    patience.read_since(read);
                }
                Ok(None) => return items.finish().await,
                Err(late) => break late,
            }
        };
        // The model is dropped before anybody hears of it.
        drop(items);
        let (what, limit) = match late {
            Late::Whole(limit) => ("the answer", limit),
            Late::First(limit) => ("the first part of the answer", limit),
            Late::Idle(limit) => ("the next part of the answer", limit),
            Late::End(end) => {
                let ends = end.of == Of::Reply && self.at_reply_limit == AtReplyLimit::End;
                return match (ends && is_step, cx.sent() == sent) {
                    (false, _) => Err(is_over(end)),
                    (true, true) => Ok(ChatResponse::own_text(texts::MSG_OUT_OF_TIME)),
                    (true, false) => Ok(ChatResponse::streamed()),
                };
            }
        };
        Err(self.model_error(model.name(), ModelTimeout { what, limit }))
    }

    async fn on_acting(
        &self,
        cx: Cx<Acting>,
        input: ActingInput,
        next: Next<Acting>,
    ) -> Result<ToolResponse> {
        let tool = input.tool_call.name.clone();
        let whole = self.tools.get(&*tool).copied().or(self.tool_calls);
        let limits = Limits { whole, end: self.end(cx.scratch(), Of::Reply), ..Limits::default() };
        if limits.is_none() {
            return next.run(input).await;
        }
        let (mut items, mut patience) = (next.stream(input), Patience::new(limits));
        let late = loop {
            match patience.next(&mut items).await {
                Ok(Some(item)) => {
                    let read = Instant::now();
                    cx.emit(item).await;
                    patience.read_since(read);
                }
                Ok(None) => return items.finish().await,
                // It goes on in the background: the time of the reply is not about it any more.
                Err(Late::End(_)) if cx.is_detached() => patience.forget_end(),
                Err(late) => break late,
            }
        };
        drop(items);
        let (text, limit, by_tool) = match late {
            Late::Whole(limit) | Late::First(limit) | Late::Idle(limit) => {
                (texts::tool_timed_out(&tool, limit), limit, true)
            }
            Late::End(end) if self.at_reply_limit == AtReplyLimit::Error => return Err(is_over(end)),
            Late::End(end) => (texts::TOOL_OUT_OF_TIME.replace("{tool_name}", &tool), end.limit, false),
        };
        tracing::warn!(tool = %tool, ?limit, "tool call took too long");
        // What it has streamed stays.
        cx.emit(ToolChunk::text(text)).await;
        let response = ToolResponse::streamed().with_state(ToolResultState::Error);
        let response = response.with_metadata("timeout_s", limit.as_secs_f64());
        // That the reply has no time left is no failure of the tool, and another attempt has none either.
        Ok(if by_tool { response } else { as_refused("Timeout", response) })
    }
}

impl fmt::Debug for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeout")
            .field("reply", &self.reply)
            .field("at_reply_limit", &self.at_reply_limit)
            .field("reasoning", &self.reasoning)
            .field("model_call", &self.model.whole)
            .field("first_item", &self.model.first)
            .field("idle", &self.model.idle)
            .field("tool_calls", &self.tool_calls)
            .field("tools", &self.tools)
            .finish()
    }
}
