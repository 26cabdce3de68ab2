//! [`CircuitBreaker`].

mod builder;
mod circuit;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use cepa_core::{
    Acting, ActingInput, ChatResponse, Cx, Error, ErrorKind, FinishedReason, HookSet, Middleware,
    MiddlewareKey, ModelCall, ModelRequest, Next, OrderRule, Origin, Result, ToolResponse, ToolResultState,
    middleware,
};
use tokio::time::Instant;

pub use self::builder::CircuitBreakerBuilder;
use self::{
    builder::Tools,
    circuit::{Change, Circuit, Outcome, Phase, Rules, Ticket},
};
use crate::{
    nested,
    refused::{refuse, was_refused},
    texts,
    timeout::is_reply_over,
    when::When,
};

/// Stops calling a model, or a tool, that keeps failing, and tries from time to time whether it is well again.
///
/// Each model and each tool has a circuit of its own, under its name. It opens after so many failures in a row, or when
/// so great a part of its calls failed. While it is open, calls are refused at once: a model's with [`CircuitOpen`], which a
/// [`ModelFallback`](crate::ModelFallback) takes for a reason to ask the next model; a tool's with a result that tells the
/// model. After a while a few calls are let through as probes: when they succeed it closes, when one fails it stays open.
///
/// A failure is a model's error that says that the same request may work later, a time limit that was reached, and a
/// tool's error, in its result too. Interrupted calls, the errors of layers, and requests that the server finds wrong say
/// nothing about its health. Clones share the circuits.
///
/// ```
/// use std::time::Duration;
/// use cepa_core::{Agent, ErrorType, ModelError, testing::{Answer, ScriptedModel}};
/// use cepa_resilience::{CircuitBreaker, CircuitOpen, CircuitState};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let breaker = CircuitBreaker::builder().consecutive_failures(2).open_for(Duration::from_secs(30)).build()?;
/// let down = || Answer::new().fails(ModelError::new(ErrorType::Upstream, "overloaded"));
/// let model = ScriptedModel::new([down(), down(), "Hello!".into()]).named("large");
/// let mut agent = Agent::builder("Friday").model(model).middleware(breaker.clone()).build()?;
/// for _ in 0..2 {
///     assert!(agent.reply("Hi").await.is_err());
/// }
/// let refused = agent.reply("Hi").await.unwrap_err();
/// assert!(refused.downcast_ref::<CircuitOpen>().is_some());
///
/// tokio::time::sleep(Duration::from_secs(30)).await;
/// assert_eq!(agent.reply("Hi").await?.text().as_deref(), Some("Hello!"));
/// assert_eq!(breaker.of_model("large"), CircuitState::Closed);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct CircuitBreaker(Arc<Shared>);

struct Shared {
    rules: Rules,
    /// Which of a model's errors are failures; `None` where models have no circuits.
    models: Option<When>,
    tools: Tools,
    of_models: Mutex<Circuits>,
    of_tools: Mutex<Circuits>,
}

type Circuits = BTreeMap<String, Arc<Mutex<Circuit>>>;

/// How a circuit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CircuitState {
    /// Calls go through.
    Closed,
    /// Calls are refused, for so long still.
    Open(Duration),
    /// The next calls are probes.
    HalfOpen,
}

/// A model keeps failing and is not called for a while.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("model `{model}` has failed too often: it is not called {}", until(*.retry_in))]
#[non_exhaustive]
pub struct CircuitOpen {
    /// The model's name.
    pub model: String,
    /// In how long it is tried again; `None` while others are trying it right now.
    pub retry_in: Option<Duration>,
}

fn until(retry_in: Option<Duration>) -> String {
    match retry_in {
        Some(wait) => format!("for another {wait:?}"),
        None => "before the calls that try it now have succeeded".to_owned(),
    }
}

impl CircuitBreaker {
    /// Circuits of models that open after five failures in a row, to be changed.
    pub fn builder() -> CircuitBreakerBuilder {
        CircuitBreakerBuilder::new()
    }

    /// How the circuit of this model is.
    pub fn of_model(&self, name: &str) -> CircuitState {
        state(&self.0.of_models, name)
    }

    /// How the circuit of this tool is.
    pub fn of_tool(&self, name: &str) -> CircuitState {
        state(&self.0.of_tools, name)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn state(circuits: &Mutex<Circuits>, name: &str) -> CircuitState {
    let Some(circuit) = lock(circuits).get(name).cloned() else { return CircuitState::Closed };
    let now = Instant::now();
    match lock(&circuit).phase {
        Phase::Closed { .. } => CircuitState::Closed,
        Phase::Open { until } if until > now => CircuitState::Open(until - now),
        Phase::Open { .. } | Phase::HalfOpen { .. } => CircuitState::HalfOpen,
    }
}

/// The circuit of this name; a closed one at first.
fn circuit(circuits: &Mutex<Circuits>, name: &str) -> Arc<Mutex<Circuit>> {
    let mut circuits = lock(circuits);
    match circuits.get(name) {
        Some(circuit) => circuit.clone(),
        None => circuits.entry(name.to_owned()).or_default().clone(),
    }
}

/// A call that was let through. Dropped without an outcome, it says nothing and gives its place back.
struct Pass<'a> {
    rules: &'a Rules,
    circuit: &'a Mutex<Circuit>,
    ticket: Ticket,
    name: &'a str,
    outcome: Outcome,
}

impl<'a> Pass<'a> {
    fn enter(rules: &'a Rules, circuit: &'a Mutex<Circuit>, name: &'a str) -> Result<Self, Option<Duration>> {
        let ticket = lock(circuit).enter(rules, Instant::now())?;
        Ok(Self { rules, circuit, ticket, name, outcome: Outcome::Nothing })
    }

    fn leave(mut self, outcome: Outcome) {
        self.outcome = outcome;
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let change = lock(self.circuit).leave(self.rules, self.ticket, self.outcome, Instant::now());
        match change {
            Some(Change::Opened) => {
                tracing::warn!(name = self.name, open_for = ?self.rules.open_for, "circuit opened");
            }
            Some(Change::Closed) => tracing::info!(name = self.name, "circuit closed"),
            None => {}
        }
    }
}

/// What a tool call says about the tool.
fn outcome_of_tool(result: &Result<ToolResponse>) -> Outcome {
    match result {
        // A layer inside did not even ask the tool.
        Ok(response) if was_refused(response) => Outcome::Nothing,
        Ok(response) => match response.state {
            ToolResultState::Error => Outcome::Failure,
            ToolResultState::Denied | ToolResultState::Interrupted => Outcome::Nothing,
            _ => Outcome::Success,
        },
        Err(error) if error.origin() == Origin::Tool => Outcome::Failure,
        Err(error) if is_reply_over(error) => Outcome::Nothing,
        Err(error) if matches!(error.kind(), ErrorKind::Timeout { .. }) => Outcome::Failure,
        Err(_) => Outcome::Nothing,
    }
}

#[middleware]
impl Middleware for CircuitBreaker {
    fn hooks(&self) -> HookSet {
        let hooks = [(self.0.models.is_some(), HookSet::MODEL_CALL), (self.0.tools.any(), HookSet::ACTING)];
        hooks.into_iter().filter(|(wanted, _)| *wanted).map(|(_, hook)| hook).collect()
    }

    fn key(&self) -> Option<MiddlewareKey> {
        None
    }

    fn order(&self) -> &'static [OrderRule] {
        const RULES: &[OrderRule] = &[
            OrderRule::inside_of(
                "ModelRouterMiddleware",
                "outside, it does not know which model will be asked",
            ),
            OrderRule::outside_of("Timeout", "inside, a call that hangs is dropped and is no failure"),
            OrderRule::inside_of("ToolRetry", "outside, it does not see what fails in between"),
            OrderRule::inside_of(
                "BackgroundTools",
                "outside, a call that goes on in the background is a success",
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
        let Some(failures) = &self.0.models else { return next.run(request).await };
        let model = request.model.clone().unwrap_or_else(|| cx.model().clone());
        let circuit = circuit(&self.0.of_models, model.name());
        let id = nested::id_of(&circuit);
        if nested::is_inside(id) {
            return next.run(request).await;
        }
        let pass = match Pass::enter(&self.0.rules, &circuit, model.name()) {
            Ok(pass) => pass,
            Err(retry_in) => {
                return Err(Error::other(CircuitOpen { model: model.name().to_owned(), retry_in }));
            }
        };
        let result = nested::inside(id, next.run(request)).await;
        pass.leave(match &result {
            Ok(response) if response.finished_reason == FinishedReason::Interrupted => Outcome::Nothing,
            Ok(_) => Outcome::Success,
            Err(error) if failures.holds(error) => Outcome::Failure,
            Err(_) => Outcome::Nothing,
        });
        result
    }

    async fn on_acting(
        &self,
        _cx: Cx<Acting>,
        input: ActingInput,
        next: Next<Acting>,
    ) -> Result<ToolResponse> {
        let name = input.tool_call.name.clone();
        if !self.0.tools.has(&name) {
            return next.run(input).await;
        }
        let circuit = circuit(&self.0.of_tools, &name);
        let id = nested::id_of(&circuit);
        if nested::is_inside(id) {
            return next.run(input).await;
        }
        let pass = match Pass::enter(&self.0.rules, &circuit, &name) {
            Ok(pass) => pass,
            Err(retry_in) => return Ok(refuse("CircuitBreaker", texts::tool_is_off(&name, retry_in))),
        };
        let result = nested::inside(id, next.run(input)).await;
        pass.leave(outcome_of_tool(&result));
        result
    }
}

impl fmt::Debug for CircuitBreaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (models, tools) = (lock(&self.0.of_models), lock(&self.0.of_tools));
        f.debug_struct("CircuitBreaker")
            .field("rules", &self.0.rules)
            .field("models", &models.keys())
            .field("tools", &tools.keys())
            .finish_non_exhaustive()
    }
}
