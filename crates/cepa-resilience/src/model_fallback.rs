//! [`ModelFallback`].

use std::{fmt, sync::Arc};

use cepa_core::{
    ChatModel, ChatResponse, Cx, Error, IntoShared, Middleware, MiddlewareKey, ModelCall, ModelRequest, Next,
    OrderRule, Origin, Result, middleware,
};

use crate::{OptionError, refused::is_refusal, spent::Spent, when::When};

/// Asks other models, one after the other, where the one that was asked has failed.
///
/// By default after every error of a model, and where a [`CircuitBreaker`](crate::CircuitBreaker) or a shared limit of
/// this crate refused the call. An answer of which something went out is not begun anew by another model: its error is
/// returned. The agent's own model stays what it is; the response names the model that has answered.
///
/// ```
/// use cepa_core::{Agent, ErrorType, ModelError, testing::{Answer, ScriptedModel}};
/// use cepa_resilience::ModelFallback;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let down = ModelError::new(ErrorType::Upstream, "overloaded");
/// let first = ScriptedModel::new([Answer::new().fails(down)]).named("large");
/// let second = ScriptedModel::new(["Hello!"]).named("small");
/// let fallback = ModelFallback::builder().model(second).build()?;
/// let mut agent = Agent::builder("Friday").model(first).middleware(fallback).build()?;
/// assert_eq!(agent.reply("Hi").await?.text().as_deref(), Some("Hello!"));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct ModelFallback {
    models: Vec<Arc<dyn ChatModel>>,
    when: When,
}

impl ModelFallback {
    /// A layer without a model yet.
    pub fn builder() -> ModelFallbackBuilder {
        let when = When::new(|error| error.origin() == Origin::Model || is_refusal(error));
        ModelFallbackBuilder(Self { models: Vec::new(), when })
    }
}

#[middleware]
impl Middleware for ModelFallback {
    fn key(&self) -> Option<MiddlewareKey> {
        None
    }

    fn order(&self) -> &'static [OrderRule] {
        const RULES: &[OrderRule] = &[
            OrderRule::inside_of(
                "ModelRouterMiddleware",
                "outside, the router sends every model's turn to its own choice",
            ),
            OrderRule::outside_of("ModelRetry", "inside, all models are asked again where one would be"),
            OrderRule::outside_of(
                "CircuitBreaker",
                "inside, another model's failure counts for the first one",
            ),
            OrderRule::outside_of("RateLimit", "inside, the other models' calls do not count"),
            OrderRule::outside_of("ConcurrencyLimit", "inside, a call that gets no place has no other model"),
            OrderRule::outside_of("Timeout", "inside, a hanging model leaves the others no time"),
        ];
        RULES
    }

    async fn on_model_call(
        &self,
        cx: Cx<ModelCall>,
        request: ModelRequest,
        next: Next<ModelCall>,
    ) -> Result<ChatResponse> {
        let sent = cx.sent();
        let own = request.model.clone().unwrap_or_else(|| cx.model().clone());
        let others = self.models.iter().filter(|model| !Arc::ptr_eq(model, &own));
        let mut asked = own.name();
        let mut spent = Spent::default();
        let mut result = next.clone().run(request.clone()).await;
        for model in others {
            let error = match result {
                Ok(response) => return Ok(spent.into_response(response)),
                Err(error) => error,
            };
            if cx.sent() != sent || !self.when.holds(&error) {
                spent.add(&error);
                return spent.into_error(error);
            }
            tracing::warn!(model = asked, next = model.name(), %error, "another model is asked");
            spent.add(&error);
            asked = model.name();
            result = next.clone().run(request.clone().with_model(model.clone())).await;
        }
        match result {
            Ok(response) => Ok(spent.into_response(response)),
            Err(error) => {
                spent.add(&error);
                spent.into_error(error)
            }
        }
    }
}

impl fmt::Debug for ModelFallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let models: Vec<_> = self.models.iter().map(|model| model.name()).collect();
        f.debug_struct("ModelFallback").field("models", &models).finish_non_exhaustive()
    }
}

/// Options of [`ModelFallback`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct ModelFallbackBuilder(ModelFallback);

impl ModelFallbackBuilder {
    /// Adds a model, to be asked after those before it.
    pub fn model(mut self, model: impl IntoShared<dyn ChatModel>) -> Self {
        self.0.models.push(model.into_shared());
        self
    }

    /// After which errors the next model is asked: by default those of models, and calls that a breaker or a shared
    /// limit refused.
    pub fn when(mut self, test: impl Fn(&Error) -> bool + Send + Sync + 'static) -> Self {
        self.0.when = When::new(test);
        self
    }

    /// Checks the options and builds the layer.
    ///
    /// # Errors
    /// No model.
    pub fn build(self) -> Result<ModelFallback, OptionError> {
        if self.0.models.is_empty() {
            return Err(OptionError::new("model", "not given", "given at least once"));
        }
        Ok(self.0)
    }
}
