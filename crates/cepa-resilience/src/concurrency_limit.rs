//! [`ConcurrencyLimit`].

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use cepa_core::{
    Acting, ActingInput, ChatResponse, Cx, Error, ErrorKind, HookSet, Middleware, MiddlewareKey, ModelCall,
    ModelRequest, Next, OrderRule, Result, ToolResponse, middleware,
};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};

use crate::{
    OptionError, nested,
    refused::{WaitTooLong, refuse},
    texts,
};

/// Lets no more model calls, and no more tool calls, run at once than so many.
///
/// Clones share the limits: give the same one to all agents that it is for. Who comes first goes first. A call keeps its
/// place until it has ended, however it ends.
///
/// A call that runs inside of one that has a place needs none of its own, as it would wait for itself: a model call that a
/// layer makes while its own call is held up, or the tool calls of an agent that a tool runs. Place the limit inside of such
/// layers all the same.
///
/// A model call that gets no place in time fails with [`WaitTooLong`]; a tool call has an error for the model as its result.
///
/// ```
/// use cepa_core::{Agent, testing::ScriptedModel};
/// use cepa_resilience::ConcurrencyLimit;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let limit = ConcurrencyLimit::builder().model_calls(8).tool_calls(32).tool("browser", 2).build()?;
/// let model = ScriptedModel::new(["Hello!"]);
/// let mut agent = Agent::builder("Friday").model(model).middleware(limit.clone()).build()?;
/// agent.reply("Hi").await?;
/// assert_eq!(limit.free_model_calls(), Some(8));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct ConcurrencyLimit {
    model_calls: Option<Arc<Places>>,
    tool_calls: Option<Arc<Places>>,
    tools: Arc<BTreeMap<String, Arc<Places>>>,
    max_wait: Duration,
}

/// So many places. The semaphore's queue is in order, and who gives up leaves it.
struct Places {
    all: usize,
    free: Semaphore,
}

impl Places {
    fn new(all: usize) -> Arc<Self> {
        Arc::new(Self { all, free: Semaphore::new(all) })
    }

    /// A place, once one is free.
    async fn take(&self) -> Option<SemaphorePermit<'_>> {
        // It is never closed.
        self.free.acquire().await.ok()
    }
}

impl ConcurrencyLimit {
    /// A limit without numbers yet: at least one is to be given.
    pub fn builder() -> ConcurrencyLimitBuilder {
        ConcurrencyLimitBuilder {
            model_calls: None,
            tool_calls: None,
            tools: BTreeMap::new(),
            max_wait: Duration::from_secs(600),
        }
    }

    /// How many more model calls may run now; `None` where they have no limit.
    pub fn free_model_calls(&self) -> Option<usize> {
        self.model_calls.as_ref().map(|places| places.free.available_permits())
    }

    /// How many more tool calls may run now; `None` where they have no limit.
    pub fn free_tool_calls(&self) -> Option<usize> {
        self.tool_calls.as_ref().map(|places| places.free.available_permits())
    }

    fn refusal(&self, what: &str) -> WaitTooLong {
        WaitTooLong { layer: "ConcurrencyLimit", what: what.to_owned(), waited: self.max_wait }
    }
}

#[middleware]
impl Middleware for ConcurrencyLimit {
    fn hooks(&self) -> HookSet {
        let tools = self.tool_calls.is_some() || !self.tools.is_empty();
        let hooks = [(self.model_calls.is_some(), HookSet::MODEL_CALL), (tools, HookSet::ACTING)];
        hooks.into_iter().filter(|(wanted, _)| *wanted).map(|(_, hook)| hook).collect()
    }

    fn key(&self) -> Option<MiddlewareKey> {
        None
    }

    fn order(&self) -> &'static [OrderRule] {
        const RULES: &[OrderRule] = &[
            OrderRule::inside_of(
                "CircuitBreaker",
                "outside, a call that the breaker would refuse waits for a place first",
            ),
            OrderRule::outside_of(
                "Timeout",
                "inside, the time of waiting counts as the model's or the tool's",
            ),
            OrderRule::inside_of("BackgroundTools", "outside, a call in the background has no place"),
            OrderRule::inside_of(
                "ToolRetry",
                "outside, a call keeps its place while it waits for its next attempt",
            ),
        ];
        RULES
    }

    async fn on_model_call(
        &self,
        cx: Cx<ModelCall>,
        request: ModelRequest,
        next: Next<ModelCall>,
    ) -> Result<ChatResponse> {
        let Some(places) = &self.model_calls else { return next.run(request).await };
        let id = nested::id_of(places);
        if nested::is_inside(id) {
            return next.run(request).await;
        }
        let place = tokio::select! {
            biased;
            () = cx.interrupted() => return Err(ErrorKind::Interrupted.into()),
            place = timeout(self.max_wait, places.take()) => place,
        };
        let Ok(_place) = place else {
            let model = request.model.as_ref().unwrap_or_else(|| cx.model());
            return Err(Error::other(self.refusal(model.name())));
        };
        nested::inside(id, next.run(request)).await
    }

    async fn on_acting(
        &self,
        _cx: Cx<Acting>,
        input: ActingInput,
        next: Next<Acting>,
    ) -> Result<ToolResponse> {
        let of_tool = self.tools.get(&*input.tool_call.name);
        // Those of the tool first, so that who waits for them keeps no place from other tools.
        let wanted = [of_tool, self.tool_calls.as_ref()];
        let mut wanted =
            wanted.into_iter().flatten().filter(|places| !nested::is_inside(nested::id_of(places)));
        let Some(first) = wanted.next() else { return next.run(input).await };
        let second = wanted.next();
        let both = async {
            let first = first.take().await;
            (
                first,
                match second {
                    Some(second) => second.take().await,
                    None => None,
                },
            )
        };
        let Ok(_places) = timeout(self.max_wait, both).await else {
            let tool = &input.tool_call.name;
            tracing::warn!(tool = %tool, waited = ?self.max_wait, "no place for a tool call");
            return Ok(refuse("ConcurrencyLimit", texts::TOOL_NO_PLACE.replace("{tool_name}", tool)));
        };
        let run = nested::inside(nested::id_of(first), next.run(input));
        match second {
            Some(second) => nested::inside(nested::id_of(second), run).await,
            None => run.await,
        }
    }
}

impl fmt::Debug for ConcurrencyLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: BTreeMap<_, _> = self.tools.iter().map(|(name, places)| (name, places.all)).collect();
        f.debug_struct("ConcurrencyLimit")
            .field("model_calls", &self.model_calls.as_ref().map(|places| places.all))
            .field("tool_calls", &self.tool_calls.as_ref().map(|places| places.all))
            .field("tools", &tools)
            .finish_non_exhaustive()
    }
}

/// Options of [`ConcurrencyLimit`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct ConcurrencyLimitBuilder {
    model_calls: Option<usize>,
    tool_calls: Option<usize>,
    tools: BTreeMap<String, usize>,
    max_wait: Duration,
}

impl ConcurrencyLimitBuilder {
    /// The most model calls at once.
    pub fn model_calls(mut self, calls: usize) -> Self {
        self.model_calls = Some(calls);
        self
    }

    /// The most tool calls at once, all tools together.
    pub fn tool_calls(mut self, calls: usize) -> Self {
        self.tool_calls = Some(calls);
        self
    }

    /// The most calls of one tool at once.
    pub fn tool(mut self, name: impl Into<String>, calls: usize) -> Self {
        self.tools.insert(name.into(), calls);
        self
    }

    /// How long a call waits for its place at most: 10 minutes by default.
    pub fn max_wait(mut self, wait: Duration) -> Self {
        self.max_wait = wait;
        self
    }

    /// Checks the options and builds the limit.
    ///
    /// # Errors
    /// No limit at all, one of no calls or of more than can be counted, or a time that cannot be.
    pub fn build(self) -> Result<ConcurrencyLimit, OptionError> {
        if self.model_calls.is_none() && self.tool_calls.is_none() && self.tools.is_empty() {
            let must_be = "given, or `tool_calls` or `tool` must";
            return Err(OptionError::new("model_calls", "not given", must_be));
        }
        let named = self.tools.values().map(|calls| ("tool", Some(*calls)));
        let all =
            [("model_calls", self.model_calls), ("tool_calls", self.tool_calls)].into_iter().chain(named);
        for (option, calls) in all {
            if calls.is_some_and(|calls| calls == 0 || calls > Semaphore::MAX_PERMITS) {
                let value = calls.unwrap_or_default();
                return Err(OptionError::new(option, value, "at least 1 and no more than can be counted"));
            }
        }
        OptionError::check_time("max_wait", self.max_wait)?;
        let tools = self.tools.into_iter().map(|(name, calls)| (name, Places::new(calls)));
        Ok(ConcurrencyLimit {
            model_calls: self.model_calls.map(Places::new),
            tool_calls: self.tool_calls.map(Places::new),
            tools: Arc::new(tools.collect()),
            max_wait: self.max_wait,
        })
    }
}
