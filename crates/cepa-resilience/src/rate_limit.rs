//! [`RateLimit`].

mod builder;
mod queue;
mod window;

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use cepa_core::{
    ChatResponse, Cx, Error, ErrorKind, ErrorType, Middleware, MiddlewareKey, ModelCall, ModelRequest, Next,
    OrderRule, Result, estimate_tokens, middleware,
};
use tokio::time::{Instant, timeout};

pub use self::builder::RateLimitBuilder;
use self::{
    queue::Queue,
    window::{Limits, Window},
};
use crate::refused::WaitTooLong;

/// Lets no more model requests, and no more tokens, through than so many per minute.
///
/// Clones share the limit: give the same one to all agents that use the same account. It holds for every minute, not
/// only on average: at no time have more than the allowed requests gone through within the last 60 seconds. Who comes
/// first goes first. Every attempt and every call that a layer makes for itself counts.
///
/// What a request will cost is estimated (a quarter of its bytes, and its `max_tokens` or
/// [`expected_output_tokens`](RateLimitBuilder::expected_output_tokens)); when the server says what it did cost, that counts
/// from then on, in both directions. A request that is larger than the whole limit goes when nothing else counts. When a
/// server refuses a request for its own limit and says for how long, all wait.
///
/// Not built on a token bucket (GCRA, as `governor` has it): a bucket that is full after a pause lets up to twice the limit
/// through within a minute, cannot take back an estimate, and has two limits only one after the other.
///
/// ```
/// use cepa_core::{Agent, testing::ScriptedModel};
/// use cepa_resilience::RateLimit;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let limit = RateLimit::builder().requests_per_minute(60).tokens_per_minute(90_000).build()?;
/// let model = ScriptedModel::new(["Hello!", "Good day!"]);
/// for name in ["Friday", "Saturday"] {
///     let mut agent = Agent::builder(name).model(model.clone()).middleware(limit.clone()).build()?;
///     agent.reply("Hi").await?;
/// }
/// assert_eq!(limit.used().0, 2);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct RateLimit(Arc<Shared>);

struct Shared {
    limits: Limits,
    expected_output_tokens: u64,
    max_wait: Duration,
    /// The models whose requests count; all of them when there is none.
    models: BTreeSet<String>,
    window: Mutex<Window>,
    queue: Queue,
}

impl RateLimit {
    /// A limit without numbers yet: at least one is to be given.
    pub fn builder() -> RateLimitBuilder {
        RateLimitBuilder::new()
    }

    /// How many requests and tokens count now: those of the last 60 seconds.
    pub fn used(&self) -> (u64, u64) {
        self.0.window().used(Instant::now())
    }

    fn estimate(&self, request: &ModelRequest) -> u64 {
        if self.0.limits.tokens.is_none() {
            return 0;
        }
        let output = request.options.max_tokens.map_or(self.0.expected_output_tokens, u64::from);
        estimate_tokens(&request.messages, &request.tools).saturating_add(output)
    }
}

impl Shared {
    fn window(&self) -> MutexGuard<'_, Window> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in what the call has cost, and for how long the server wants to be left alone.
    fn settle(&self, number: u64, result: &Result<ChatResponse>) {
        let usage = match result {
            Ok(response) => response.usage.as_ref(),
            Err(error) => error.usage(),
        };
        let mut changed = false;
        let mut window = self.window();
        if let Some(usage) = usage.filter(|_| self.limits.tokens.is_some()) {
            changed |= window.correct(number, usage.input_tokens.saturating_add(usage.output_tokens));
        }
        if let Err(error) = result
            && let Some(wait) = asked_to_wait(error)
        {
            // The others' time to wait ends somewhere: no server may stop them for longer.
            window.hold_until(Instant::now() + wait.min(self.max_wait));
        }
        drop(window);
        if changed {
            self.queue.look_again();
        }
    }
}

/// For how long a server that was asked too often wants to be left alone.
fn asked_to_wait(error: &Error) -> Option<Duration> {
    match error.kind() {
        ErrorKind::Model(error) if error.kind == ErrorType::RateLimit => error.retry_after,
        _ => None,
    }
}

#[middleware]
impl Middleware for RateLimit {
    fn key(&self) -> Option<MiddlewareKey> {
        None
    }

    fn order(&self) -> &'static [OrderRule] {
        const RULES: &[OrderRule] = &[
            OrderRule::inside_of(
                "ModelRouterMiddleware",
                "outside, it does not know which model will be asked",
            ),
            OrderRule::inside_of(
                "CircuitBreaker",
                "outside, calls that the breaker refuses use the limit up",
            ),
            OrderRule::outside_of(
                "ConcurrencyLimit",
                "inside, a call that waits for its minute keeps others from running",
            ),
            OrderRule::outside_of("Timeout", "inside, the time of waiting counts as the model's"),
        ];
        RULES
    }

    async fn on_model_call(
        &self,
        cx: Cx<ModelCall>,
        request: ModelRequest,
        next: Next<ModelCall>,
    ) -> Result<ChatResponse> {
        let shared = &*self.0;
        let model = request.model.clone().unwrap_or_else(|| cx.model().clone());
        if !shared.models.is_empty() && !shared.models.contains(model.name()) {
            return next.run(request).await;
        }
        let began = Instant::now();
        let entered = tokio::select! {
            biased;
            () = cx.interrupted() => return Err(ErrorKind::Interrupted.into()),
            entered = timeout(shared.max_wait, queue::enter(&self.0, self.estimate(&request))) => entered,
        };
        let Ok(number) = entered else {
            let what = model.name().to_owned();
            return Err(Error::other(WaitTooLong { layer: "RateLimit", what, waited: shared.max_wait }));
        };
        let waited = began.elapsed();
        // What it takes to ask is no wait.
        if waited >= Duration::from_millis(1) {
            tracing::debug!(model = model.name(), ?waited, "waited for the rate limit");
        }
        let result = next.run(request).await;
        shared.settle(number, &result);
        result
    }
}

impl fmt::Debug for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimit")
            .field("requests_per_minute", &self.0.limits.requests)
            .field("tokens_per_minute", &self.0.limits.tokens)
            .field("burst", &self.0.limits.burst)
            .field("models", &self.0.models)
            .finish_non_exhaustive()
    }
}
