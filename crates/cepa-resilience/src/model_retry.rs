//! [`ModelRetry`].

use std::time::Duration;

use cepa_core::{
    ChatResponse, Cx, Error, ErrorKind, ErrorType, Middleware, MiddlewareKey, ModelCall, ModelError,
    ModelRequest, Next, OrderRule, Result, middleware,
};
use tokio::time::{Instant, sleep_until};

use crate::{
    Backoff, OptionError,
    spent::Spent,
    when::{When, is_retryable},
};

/// Asks a model again that has failed, as long as nothing of its answer went out.
///
/// By default three attempts within five minutes, for errors that say that the same request may work later
/// ([`ModelError::retryable`]). The waits between them grow ([`Backoff`]) and are never shorter than what the server
/// asked for (`Retry-After`). Where the next attempt would come too late, the last error is given at once.
///
/// An answer that breaks off half-way is not begun anew: its reader would see it twice. What failed attempts have
/// cost is in the usage of the answer, or of the error. The agent's own `model_retries` come on top: leave them at 0.
///
/// ```
/// use cepa_core::{Agent, ErrorType, ModelError, testing::{Answer, ScriptedModel}};
/// use cepa_resilience::ModelRetry;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let busy = ModelError::new(ErrorType::RateLimit, "too many requests");
/// let model = ScriptedModel::new([Answer::new().fails(busy), "Hello!".into()]);
/// let retry = ModelRetry::builder().attempts(5).build()?;
/// let mut agent = Agent::builder("Friday").model(model).middleware(retry).build()?;
/// assert_eq!(agent.reply("Hi").await?.text().as_deref(), Some("Hello!"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct ModelRetry {
    attempts: u32,
    deadline: Duration,
    backoff: Backoff,
    when: When,
}

impl Default for ModelRetry {
    fn default() -> Self {
        Self {
            attempts: 3,
            deadline: Duration::from_secs(300),
            backoff: Backoff::default(),
            when: When::new(is_retryable),
        }
    }
}

impl ModelRetry {
    /// The usual layer, to be changed.
    pub fn builder() -> ModelRetryBuilder {
        ModelRetryBuilder(Self::default())
    }

    /// One attempt. At the deadline it ends, unless something of it went out: then it is the answer.
    async fn attempt(
        &self,
        cx: &Cx<ModelCall>,
        request: ModelRequest,
        next: Next<ModelCall>,
        (sent, deadline): (usize, Instant),
    ) -> Option<Result<ChatResponse>> {
        let mut running = next.run(request);
        tokio::select! {
            biased;
            result = &mut running => Some(result),
            () = sleep_until(deadline) => {
                if cx.sent() == sent {
                    return None;
                }
                Some(running.await)
            }
        }
    }

    fn out_of_time(&self, model: &str) -> Error {
        let text =
            format!("model `{model}` has not answered within {:?}, all attempts together", self.deadline);
        ModelError::new(ErrorType::Connection, text).into()
    }
}

/// What the error says of the next attempt.
fn retry_after(error: &Error) -> Option<Duration> {
    match error.kind() {
        ErrorKind::Model(error) => error.retry_after,
        _ => None,
    }
}

#[middleware]
impl Middleware for ModelRetry {
    fn key(&self) -> Option<MiddlewareKey> {
        None
    }

    fn order(&self) -> &'static [OrderRule] {
        const RULES: &[OrderRule] = &[
            OrderRule::outside_of("CircuitBreaker", "inside, the breaker does not see what fails in between"),
            OrderRule::outside_of("RateLimit", "inside, only the first attempt counts"),
            OrderRule::outside_of("ConcurrencyLimit", "inside, a call keeps its place while it waits"),
            OrderRule::outside_of(
                "Timeout",
                "inside, all attempts share one limit, and a hanging one is not tried again",
            ),
            OrderRule::outside_of("ModelCallLimit", "inside, only the first attempt counts"),
        ];
        RULES
    }

    async fn on_model_call(
        &self,
        cx: Cx<ModelCall>,
        request: ModelRequest,
        next: Next<ModelCall>,
    ) -> Result<ChatResponse> {
        let deadline = Instant::now() + self.deadline;
        let sent = cx.sent();
        let model = request.model.clone().unwrap_or_else(|| cx.model().clone());
        let (mut waits, mut spent, mut last) = (None, Spent::default(), None);
        for attempt in 1..=self.attempts {
            let result = self.attempt(&cx, request.clone(), next.clone(), (sent, deadline)).await;
            let error = match result {
                Some(Ok(response)) => return Ok(spent.into_response(response)),
                Some(Err(error)) => error,
                None => {
                    let error = last.unwrap_or_else(|| self.out_of_time(model.name()));
                    return spent.into_error(error);
                }
            };
            spent.add(&error);
            if attempt == self.attempts || cx.sent() != sent || !self.when.holds(&error) {
                return spent.into_error(error);
            }
            let wait = waits.get_or_insert_with(|| self.backoff.waits()).next(retry_after(&error));
            // Servers ask for absurd times too.
            let Some(begins) = Instant::now().checked_add(wait).filter(|begins| *begins < deadline) else {
                tracing::warn!(model = model.name(), attempt, ?wait, %error, "no time for another attempt");
                return spent.into_error(error);
            };
            tracing::warn!(model = model.name(), attempt, of = self.attempts, ?wait, %error, "tries again");
            tokio::select! {
                biased;
                () = cx.interrupted() => return spent.into_error(ErrorKind::Interrupted.into()),
                () = sleep_until(begins) => {}
            }
            last = Some(error);
        }
        // At least one attempt is made, and the last one returns.
        spent.into_error(last.unwrap_or_else(|| self.out_of_time(model.name())))
    }
}

/// Options of [`ModelRetry`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct ModelRetryBuilder(ModelRetry);

impl ModelRetryBuilder {
    /// How often the model is asked at most, the first time included: 3 by default.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.0.attempts = attempts;
        self
    }

    /// The waits between attempts.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.0.backoff = backoff;
        self
    }

    /// For how long at most the model is asked again, waits and attempts together: 5 minutes by default. An answer that
    /// has begun by then is read to its end.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.0.deadline = deadline;
        self
    }

    /// After which errors the model is asked again: by default those of models that are worth it.
    pub fn when(mut self, test: impl Fn(&Error) -> bool + Send + Sync + 'static) -> Self {
        self.0.when = When::new(test);
        self
    }

    /// Checks the options and builds the layer.
    ///
    /// # Errors
    /// No attempt, or times that cannot be.
    pub fn build(self) -> Result<ModelRetry, OptionError> {
        OptionError::check_count("attempts", self.0.attempts.into())?;
        OptionError::check_time("deadline", self.0.deadline)?;
        self.0.backoff.check()?;
        Ok(self.0)
    }
}
