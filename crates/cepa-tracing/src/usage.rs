//! Tokens, calls and cost as a layer.

mod cost;
mod prices;
mod sums;

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use cepa_core::{
    AgentState, ChatResponse, Cx, Error, Meter, Middleware, MiddlewareKey, ModelCall, ModelRequest, Msg,
    Next, Origin, Reply, ReplyInput, Result, Usage, middleware,
};

use self::sums::Call;
pub use self::{
    cost::{Cost, CostError},
    prices::{Price, PriceError, Prices, PricesBuilder},
    sums::{ModelUsage, ReplyUsage, SessionUsage, UsageSums},
};
use crate::end::{run_and_tell, to_fields};

/// Counts what model calls use: tokens, calls and, by a table of [`Prices`], what they cost; for each reply, for the
/// session, by model and by purpose.
///
/// Every call of a model counts: one that the agent or a layer tries again as often as it is made, and also those that
/// they make for themselves (summing up, routing). What a failed call cost counts as far as the server had said so.
/// Where it says nothing, or a call was cut off before it could, the call is counted as unreported; no tokens are made
/// up. What a model's client sends again by itself (`max_retries`) is one call: it costs what the last answer says.
///
/// The counts are kept in the session's state: [`UsageMiddleware::of`] reads them at any time. At the end of each reply,
/// right before `REPLY_END`, and at the end of a call that has none (a pause, an error), an event of the name
/// [`cepa.usage`](Self::EVENT) tells those of the reply: [`ReplyUsage::of_event`] reads it. One that is dropped, to have
/// the agent go on, is followed by another.
///
/// Put it innermost, as the last layer: then it sees each attempt of a layer that asks again, and not what a layer
/// answers from memory. Calls that a layer makes for itself reach it there as well. One instance may serve any number of
/// agents.
///
/// ```
/// use cepa_core::{Agent, testing::{Answer, EventLog, ScriptedModel}};
/// use cepa_tracing::{Price, Prices, ReplyUsage, UsageMiddleware};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let prices = Prices::builder("USD").model("gpt-4.1-mini", Price::new(0.40, 1.60).cache_read(0.10)).build()?;
/// let model = ScriptedModel::new([Answer::new().text("Hello").usage(12_000, 40)]).named("gpt-4.1-mini");
/// let usage = UsageMiddleware::new().prices(prices);
/// let mut agent = Agent::builder("Friday").model(model).middleware(usage).build()?;
///
/// let log = EventLog::of(agent.reply("Hi")).await;
/// let reply = log.events().iter().find_map(ReplyUsage::of_event).ok_or("no usage")?;
/// assert_eq!(reply.sums.total.output_tokens, 40);
/// assert_eq!(reply.sums.total.cost.ok_or("no cost")?.to_string(), "0.004864");
/// # Ok(()) }
/// ```
#[derive(Debug, Default)]
pub struct UsageMiddleware {
    prices: Option<Prices>,
    /// Models whose missing price was told.
    warned: Mutex<BTreeSet<String>>,
}

impl UsageMiddleware {
    /// The name of the event that tells what a reply has used.
    pub const EVENT: &'static str = "cepa.usage";

    /// A layer that counts tokens and calls.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts what the calls cost, too. A model that has no price is named in [`UsageSums::unpriced`], and once in the
    /// log.
    pub fn prices(mut self, prices: Prices) -> Self {
        self.prices = Some(prices);
        self
    }

    /// What a session has used; nothing where the layer never ran.
    ///
    /// # Errors
    /// What is stored is of another form: the error names the key.
    pub fn of(state: &AgentState) -> Result<SessionUsage> {
        Self::of_keyed(state, &MiddlewareKey::new("UsageMiddleware"))
    }

    /// As [`of`](Self::of), for a layer under another key ([`keyed`](cepa_core::MiddlewareExt::keyed)).
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn of_keyed(state: &AgentState, key: &MiddlewareKey) -> Result<SessionUsage> {
        Ok(state.middle_context.get(key)?.unwrap_or_default())
    }

    /// Counts a call.
    fn count(
        &self,
        cx: &Cx<ModelCall>,
        model: &str,
        purpose: &str,
        usage: Option<&Usage>,
        failed: bool,
    ) -> Result<()> {
        let mut call = Call {
            model,
            purpose,
            usage: ModelUsage::of_call(usage, failed),
            currency: self.prices.as_ref().map(Prices::currency),
        };
        call.usage.cost = match (&self.prices, usage) {
            (Some(prices), Some(usage)) => prices.cost(model, usage),
            _ => None,
        };
        let reply_id = cx.reply_id()?;
        let unpriced = cx.my_state().update(|session: &mut SessionUsage| session.add(&reply_id, call))?;
        if unpriced && self.warned.lock().unwrap_or_else(PoisonError::into_inner).insert(model.to_owned()) {
            tracing::warn!(
                model,
                "there is no price for the model in the session's currency: its calls are missing in the cost"
            );
        }
        Ok(())
    }
}

#[middleware]
impl Middleware for UsageMiddleware {
    async fn on_reply(&self, cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        // Before anything is spent: what is stored must be what this layer can add to.
        cx.my_state().update(|_: &mut SessionUsage| ())?;
        run_and_tell(cx, input, next, Self::EVENT, |cx| {
            let id = cx.reply_id().ok()?;
            cx.my_state().update(|session: &mut SessionUsage| to_fields(session.reply(&id))).ok()?
        })
        .await
    }

    async fn on_model_call(
        &self,
        cx: Cx<ModelCall>,
        request: ModelRequest,
        next: Next<ModelCall>,
    ) -> Result<ChatResponse> {
        let model = request.model.as_ref().unwrap_or(cx.model()).name().to_owned();
        let (next, meter) = next.metered();
        let open =
            Open { layer: self, cx: &cx, model, purpose: request.purpose.to_string(), meter, ended: false };
        match next.run(request).await {
            Ok(response) => {
                open.answered(&response)?;
                Ok(response)
            }
            Err(error) => Err(open.failed(error)),
        }
    }
}

/// A model call that runs. Dropped before it has ended, it was cut off.
struct Open<'a> {
    layer: &'a UsageMiddleware,
    cx: &'a Cx<ModelCall>,
    model: String,
    purpose: String,
    meter: Meter,
    ended: bool,
}

impl Open<'_> {
    fn answered(mut self, response: &ChatResponse) -> Result<()> {
        self.ended = true;
        self.cut_off(self.meter.given_up());
        // A layer inside, or a server that chooses, may have asked another model.
        let model = response.model.as_deref().unwrap_or(&self.model);
        let usage = response.usage.as_ref().map(Usage::from);
        self.layer.count(self.cx, model, &self.purpose, usage.as_ref(), false)
    }

    /// The error as it came: it matters more than one of counting.
    fn failed(mut self, error: Error) -> Error {
        self.ended = true;
        self.cut_off(self.meter.given_up());
        let usage = error.usage().map(Usage::from);
        // A layer inside that refuses has asked no model.
        if usage.is_some() || error.origin() == Origin::Model {
            self.count_or_warn(usage.as_ref(), true);
        }
        error
    }

    /// Counts requests that were given up on their way.
    fn cut_off(&self, requests: Vec<Option<Usage>>) {
        requests.iter().for_each(|usage| self.count_or_warn(usage.as_ref(), false));
    }

    fn count_or_warn(&self, usage: Option<&Usage>, failed: bool) {
        if let Err(error) = self.layer.count(self.cx, &self.model, &self.purpose, usage, failed) {
            tracing::warn!(model = self.model, %error, "a model call is not counted");
        }
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.cut_off(self.meter.all());
        }
    }
}
