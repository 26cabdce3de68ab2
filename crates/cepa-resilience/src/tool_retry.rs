//! [`ToolRetry`].

use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

use cepa_core::{
    Acting, ActingInput, Cx, ErrorKind, Middleware, Next, OrderRule, OutputBlock, Result, Source, ToolChunk,
    ToolResponse, middleware,
};
use tokio::time::{Instant, sleep};

use crate::{Backoff, OptionError, ToolFailure, refused::tool_failed};

/// Tries a failed tool call again: of tools that say that this does no harm
/// ([`Tool::is_idempotent`](cepa_core::Tool::is_idempotent)), and of named ones.
///
/// Nothing is shown twice: once a part of the output has gone out, the failure is the result. As a failing tool's words
/// are output like any other, the first piece is held back until the second comes or the call ends; a tool that sends
/// pieces and fails half-way is tried again only with [`hold_output`](ToolRetryBuilder::hold_output). What attempts that
/// were tried again had said is dropped. Failures for the developer are not tried again unless
/// [`when`](ToolRetryBuilder::when) says so, calls that a layer refused never.
///
/// ```
/// use cepa_core::{Agent, serde_json::json, testing::{Answer, ScriptedModel, ScriptedTool, ToolAnswer}};
/// use cepa_resilience::ToolRetry;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Answer::new().tool_call("fetch", json!({})), Answer::new().text("Sunny.")]);
/// let fetch = ScriptedTool::new("fetch", [ToolAnswer::new().fails("503"), "sunny".into()]).idempotent();
/// let mut agent =
///     Agent::builder("Friday").model(model).tool(fetch.clone()).middleware(ToolRetry::default()).build()?;
/// assert_eq!(agent.reply("Weather?").await?.text().as_deref(), Some("Sunny."));
/// assert_eq!(fetch.calls().len(), 2);
/// # Ok(()) }
/// ```
pub struct ToolRetry {
    options: ToolRetryBuilder,
}

type Predicate = Arc<dyn Fn(&ToolFailure<'_>) -> bool + Send + Sync>;

/// Sets a [`ToolRetry`] up.
#[must_use = "nothing is built until `build()`"]
#[derive(Clone)]
pub struct ToolRetryBuilder {
    attempts: u32,
    backoff: Backoff,
    deadline: Duration,
    tools: BTreeSet<String>,
    idempotent: bool,
    hold_output: bool,
    when: Predicate,
}

/// How much of an attempt's output is held back at most, in bytes. More goes out, and is the result.
const MOST_HELD: usize = 1024 * 1024;

impl Default for ToolRetryBuilder {
    fn default() -> Self {
        Self {
            attempts: 3,
            backoff: Backoff::default(),
            deadline: Duration::from_secs(120),
            tools: BTreeSet::new(),
            idempotent: true,
            hold_output: false,
            when: Arc::new(may_pass),
        }
    }
}

/// Whether a failure is worth a further attempt, where the caller does not say it: an error for the developer is a bug.
fn may_pass(failure: &ToolFailure<'_>) -> bool {
    failure.error.is_none_or(|error| matches!(error.kind(), ErrorKind::Timeout { .. }))
}

impl ToolRetryBuilder {
    /// The most attempts of a call, the first one included. 3 by default.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// How long to wait between attempts.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// No attempt begins later than this after the first one. 2 minutes by default.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Tools that may be tried again although they do not say so.
    pub fn tools<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.tools = tools.into_iter().map(Into::into).collect();
        self
    }

    /// Whether tools that say that they are idempotent are tried again. `true` by default; otherwise only those that are
    /// named.
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.idempotent = idempotent;
        self
    }

    /// Whether the output of an attempt is held back until its end, up to 1 MiB, so that a call that fails half-way can be
    /// tried again. `false` by default.
    pub fn hold_output(mut self, hold: bool) -> Self {
        self.hold_output = hold;
        self
    }

    /// Which failures are tried again: those that are results for the model, and time limits, by default.
    pub fn when(mut self, when: impl Fn(&ToolFailure<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.when = Arc::new(when);
        self
    }

    /// Checks the options and builds the layer.
    ///
    /// # Errors
    /// No attempts, times that cannot be.
    pub fn build(self) -> Result<ToolRetry, OptionError> {
        OptionError::check_count("attempts", self.attempts.into())?;
        OptionError::check_time("deadline", self.deadline)?;
        self.backoff.check()?;
        Ok(ToolRetry { options: self })
    }
}

impl Default for ToolRetry {
    /// Three attempts within two minutes, of tools that say that they are idempotent.
    fn default() -> Self {
        Self { options: ToolRetryBuilder::default() }
    }
}

impl ToolRetry {
    /// The options of [`ToolRetry::default`], to be changed.
    pub fn builder() -> ToolRetryBuilder {
        ToolRetryBuilder::default()
    }

    fn may_retry(&self, cx: &Cx<Acting>, tool: &str) -> bool {
        let options = &self.options;
        options.tools.contains(tool)
            || options.idempotent && cx.toolkit().tool(tool).is_some_and(|tool| tool.is_idempotent())
    }
}

#[middleware]
impl Middleware for ToolRetry {
    fn order(&self) -> &'static [OrderRule] {
        const RULES: &[OrderRule] = &[
            OrderRule::outside_of(
                "Timeout",
                "inside, all attempts share the time of one, and what takes too long is not tried again",
            ),
            OrderRule::outside_of(
                "ConcurrencyLimit",
                "inside, a call keeps its place while it waits for the next attempt",
            ),
            OrderRule::outside_of(
                "CircuitBreaker",
                "inside, attempts that fail do not count, and an open breaker is asked again at once",
            ),
        ];
        RULES
    }

    async fn on_acting(
        &self,
        cx: Cx<Acting>,
        input: ActingInput,
        next: Next<Acting>,
    ) -> Result<ToolResponse> {
        let tool = &*input.tool_call.name;
        if !self.may_retry(&cx, tool) {
            return next.run(input).await;
        }
        let options = &self.options;
        let begun = Instant::now();
        let mut waits = options.backoff.waits();
        for attempt in 1..options.attempts {
            let tried = Tried::run(&cx, next.clone(), input.clone(), options.hold_output).await;
            let again =
                !cx.is_interrupted() && tried.failure(tool).is_some_and(|failure| (options.when)(&failure));
            if !again {
                return tried.settle(&cx).await;
            }
            let wait = waits.next(None);
            if begun.elapsed() + wait > options.deadline {
                tracing::warn!(tool, attempt, "a tool call failed, and there is no time to try again");
                return tried.settle(&cx).await;
            }
            tracing::warn!(tool, attempt, ?wait, "a tool call failed and is tried again");
            tokio::select! {
                biased;
                () = cx.interrupted() => return tried.settle(&cx).await,
                () = sleep(wait) => {}
            }
        }
        // Its failure is the result: nothing of it is held back.
        next.run(input).await
    }
}

/// An attempt that has ended.
struct Tried {
    /// What was held back.
    held: Vec<ToolChunk>,
    /// Whether anything has gone out.
    shown: bool,
    result: Result<ToolResponse>,
}

impl Tried {
    async fn run(cx: &Cx<Acting>, next: Next<Acting>, input: ActingInput, hold_all: bool) -> Self {
        let mut items = next.stream(input);
        let (mut held, mut bytes, mut shown) = (Vec::new(), 0, false);
        while let Some(chunk) = items.next().await {
            if !shown && (held.is_empty() || hold_all) {
                bytes += size(&chunk);
                held.push(*chunk);
                if bytes <= MOST_HELD {
                    continue;
                }
                shown = true;
                send(cx, &mut held).await;
                continue;
            }
            shown = true;
            send(cx, &mut held).await;
            cx.emit(chunk).await;
        }
        Self { held, shown, result: items.finish().await }
    }

    /// The failure it is, if it may be tried again.
    fn failure<'a>(&'a self, tool: &'a str) -> Option<ToolFailure<'a>> {
        if self.shown {
            return None;
        }
        match &self.result {
            Ok(response) if tool_failed(response) => {
                let blocks = self.held.iter().flat_map(|chunk| &chunk.content);
                let text: String = blocks.filter_map(OutputBlock::as_text).collect();
                Some(ToolFailure::of_result(tool, text, &response.metadata))
            }
            Ok(_) => None,
            Err(error) => ToolFailure::of_error(tool, error),
        }
    }

    /// Lets it be the result.
    async fn settle(mut self, cx: &Cx<Acting>) -> Result<ToolResponse> {
        send(cx, &mut self.held).await;
        self.result
    }
}

async fn send(cx: &Cx<Acting>, held: &mut Vec<ToolChunk>) {
    for chunk in held.drain(..) {
        cx.emit(chunk).await;
    }
}

/// The bytes of a chunk's texts and data.
fn size(chunk: &ToolChunk) -> usize {
    let sizes = chunk.content.iter().map(|block| match block {
        OutputBlock::Text(block) => block.text.len(),
        OutputBlock::Data(block) => match &block.source {
            Source::Base64 { data, .. } => data.len(),
            _ => 0,
        },
        _ => 0,
    });
    sizes.sum()
}

impl fmt::Debug for ToolRetryBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolRetryBuilder")
            .field("attempts", &self.attempts)
            .field("backoff", &self.backoff)
            .field("deadline", &self.deadline)
            .field("tools", &self.tools)
            .field("idempotent", &self.idempotent)
            .field("hold_output", &self.hold_output)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ToolRetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolRetry").field(&self.options).finish()
    }
}
