//! What was used, summed up.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::AddAssign,
};

use cepa_core::{AgentEvent, Id, Usage};
use serde::{Deserialize, Serialize};

use super::{Cost, UsageMiddleware};
use crate::end::read_event;

/// What a session has used since its beginning, and its last two replies. Kept in the session's state.
///
/// ```
/// use cepa_core::{Agent, testing::{Answer, ScriptedModel}};
/// use cepa_tracing::{Price, Prices, UsageMiddleware};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Answer::new().text("Hello").usage(1_000, 100)]).named("small");
/// let prices = Prices::builder("EUR").model("small", Price::new(0.5, 2)).build()?;
/// let mut agent = Agent::builder("Friday").model(model).middleware(UsageMiddleware::new().prices(prices)).build()?;
/// agent.reply("Hi").await?;
///
/// let session = UsageMiddleware::of(&*agent.state()?)?;
/// assert_eq!(session.sums.total.calls, 1);
/// assert_eq!(session.sums.total.cost.map(|cost| cost.to_string()).as_deref(), Some("0.0007"));
/// assert_eq!(session.sums.models["small"].input_tokens, 1_000);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct SessionUsage {
    /// All replies of the session. In JSON its fields are the session's.
    #[serde(flatten)]
    pub sums: UsageSums,
    /// The reply at hand, or the last one. A reply that was paused is one with what goes on.
    pub reply: Option<ReplyUsage>,
    /// The one before.
    pub previous_reply: Option<ReplyUsage>,
}

/// What a reply has used: the content of the event at its end.
///
/// ```json
/// {"reply_id": "…", "currency": "USD",
///  "total": {"calls": 2, "failed_calls": 0, "unreported_calls": 0, "input_tokens": 1000, "output_tokens": 200,
///            "cache_input_tokens": 0, "cache_creation_input_tokens": 0, "cost": "0.0125"},
///  "models": {"small": {"calls": 2, …}}, "purposes": {"chat": {"calls": 1, …}, "summary": {"calls": 1, …}},
///  "unpriced": []}
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReplyUsage {
    /// The reply: the id of its message.
    pub reply_id: Id,
    /// What it has used. In JSON its fields are the reply's.
    #[serde(flatten)]
    pub sums: UsageSums,
}

impl ReplyUsage {
    /// What an event tells, if it is the one of a [`UsageMiddleware`].
    pub fn of_event(event: &AgentEvent) -> Option<Self> {
        read_event(event, UsageMiddleware::EVENT)
    }
}

/// Sums over model calls: of all, by model and by purpose. Those of the models add up to the total, as do those of the
/// purposes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct UsageSums {
    /// The currency of the costs; `None` as long as there are none.
    pub currency: Option<String>,
    /// All model calls.
    pub total: ModelUsage,
    /// By the model that answered, or that was asked in vain.
    pub models: BTreeMap<String, ModelUsage>,
    /// By what the call was for: `chat` for a step of the reply, `summary`, `routing`, ….
    pub purposes: BTreeMap<String, ModelUsage>,
    /// Models with calls that are missing in the costs, because there was no price for them in this currency.
    pub unpriced: BTreeSet<String>,
}

/// A sum over model calls. One that the agent or a layer tries again is a call each time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct ModelUsage {
    /// Calls that were answered, or cut off half-way, or that failed after the server had said what they cost.
    pub calls: u64,
    /// Calls that failed, whatever they cost.
    pub failed_calls: u64,
    /// Calls of whose tokens the server said nothing. They are among `calls`, and missing in tokens and cost.
    pub unreported_calls: u64,
    /// Tokens sent to the model, as the server counts them: mostly with those of its cache.
    pub input_tokens: u64,
    /// Tokens the model wrote.
    pub output_tokens: u64,
    /// Sent tokens that came from the provider's prompt cache.
    pub cache_input_tokens: u64,
    /// Sent tokens that were put into the provider's prompt cache.
    pub cache_creation_input_tokens: u64,
    /// What those of the calls cost for which there is a price. `None` as long as there is none.
    pub cost: Option<Cost>,
}

impl ModelUsage {
    /// One call.
    pub(super) fn of_call(usage: Option<&Usage>, failed: bool) -> Self {
        let mut call = Self {
            calls: u64::from(usage.is_some() || !failed),
            failed_calls: u64::from(failed),
            unreported_calls: u64::from(usage.is_none() && !failed),
            ..Self::default()
        };
        if let Some(usage) = usage {
            call.input_tokens = usage.input_tokens;
            call.output_tokens = usage.output_tokens;
            call.cache_input_tokens = usage.cache_input_tokens;
            call.cache_creation_input_tokens = usage.cache_creation_input_tokens;
        }
        call
    }
}

/// Sums the counts, which stop at `u64::MAX`, and the costs.
impl AddAssign<&Self> for ModelUsage {
    fn add_assign(&mut self, more: &Self) {
        for (count, more) in [
            (&mut self.calls, more.calls),
            (&mut self.failed_calls, more.failed_calls),
            (&mut self.unreported_calls, more.unreported_calls),
            (&mut self.input_tokens, more.input_tokens),
            (&mut self.output_tokens, more.output_tokens),
            (&mut self.cache_input_tokens, more.cache_input_tokens),
            (&mut self.cache_creation_input_tokens, more.cache_creation_input_tokens),
        ] {
            *count = count.saturating_add(more);
        }
        if let Some(more) = more.cost {
            *self.cost.get_or_insert_default() += more;
        }
    }
}

/// One model call.
pub(super) struct Call<'a> {
    pub(super) model: &'a str,
    pub(super) purpose: &'a str,
    pub(super) usage: ModelUsage,
    /// The currency of the cost, where costs are counted.
    pub(super) currency: Option<&'a str>,
}

impl SessionUsage {
    /// The count of a reply, which begins with the first call of this.
    pub(super) fn reply(&mut self, id: &Id) -> &mut ReplyUsage {
        if self.reply.as_ref().is_some_and(|reply| reply.reply_id != *id) {
            self.previous_reply = self.reply.take();
        }
        self.reply.get_or_insert_with(|| ReplyUsage { reply_id: id.clone(), sums: UsageSums::default() })
    }

    /// Adds a call. Returns whether its cost is not known.
    pub(super) fn add(&mut self, reply_id: &Id, mut call: Call<'_>) -> bool {
        let known = self.sums.currency.as_deref();
        if known.is_some() && known != call.currency {
            // Prices were changed, or left out, while the session was stored.
            call.usage.cost = None;
        }
        let has_tokens = call.usage.calls > call.usage.unreported_calls;
        let unpriced = has_tokens && call.usage.cost.is_none() && known.or(call.currency).is_some();
        self.sums.add(&call, unpriced);
        self.reply(reply_id).sums.add(&call, unpriced);
        unpriced
    }
}

impl UsageSums {
    fn add(&mut self, call: &Call<'_>, unpriced: bool) {
        self.total += &call.usage;
        *self.models.entry(call.model.to_owned()).or_default() += &call.usage;
        *self.purposes.entry(call.purpose.to_owned()).or_default() += &call.usage;
        if call.usage.cost.is_some() && self.currency.is_none() {
            self.currency = call.currency.map(str::to_owned);
        }
        if unpriced {
            self.unpriced.insert(call.model.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn call<'a>(model: &'a str, usage: ModelUsage, currency: &'a str) -> Call<'a> {
        Call { model, purpose: "chat", usage, currency: Some(currency) }
    }

    fn costs(cost: u128) -> ModelUsage {
        let mut usage = ModelUsage::of_call(Some(&Usage::new(1, 1)), false);
        usage.cost = Some(Cost::of_parts(cost));
        usage
    }

    #[test]
    fn what_has_no_cost_in_the_first_currency_is_named_and_not_added() {
        let mut session = SessionUsage::default();
        assert!(!session.add(&"r".into(), call("m", costs(5), "USD")));
        assert!(session.add(&"r".into(), call("n", costs(7), "EUR")));
        assert_eq!(session.sums.currency.as_deref(), Some("USD"));
        assert_eq!(session.sums.total.cost, Some(Cost::of_parts(5)));
        let without = ModelUsage::of_call(Some(&Usage::new(1, 1)), false);
        let without = Call { model: "o", purpose: "chat", usage: without, currency: None };
        assert!(session.add(&"r".into(), without));
        assert_eq!(session.sums.total.calls, 3);
        assert_eq!(session.sums.unpriced, ["n", "o"].map(str::to_owned).into());
    }

    fn sum<'a>(parts: impl IntoIterator<Item = &'a ModelUsage>) -> ModelUsage {
        parts.into_iter().fold(ModelUsage::default(), |mut sum, part| {
            sum += part;
            sum
        })
    }

    proptest! {
        #[test]
        fn parts_add_up_to_the_whole_and_survive_json(
            calls in vec((0..3_u8, 0..3_u8, 0..4_u8, any::<Option<(u32, u32)>>(), any::<bool>(), any::<Option<u64>>()), 0..20)
        ) {
            let mut session = SessionUsage::default();
            let mut replies = BTreeMap::<String, ModelUsage>::new();
            for (model, purpose, reply, tokens, failed, cost) in calls {
                let tokens = tokens.map(|(input, output)| Usage::new(input.into(), output.into()));
                let mut usage = ModelUsage::of_call(tokens.as_ref(), failed);
                usage.cost = cost.filter(|_| tokens.is_some()).map(|cost| Cost::of_parts(cost.into()));
                *replies.entry(reply.to_string()).or_default() += &usage;
                let (model, purpose) = (model.to_string(), purpose.to_string());
                let call = Call { model: &model, purpose: &purpose, usage, currency: Some("USD") };
                session.add(&reply.to_string().into(), call);
            }
            let sums = &session.sums;
            prop_assert_eq!(sum(sums.models.values()), sums.total.clone());
            prop_assert_eq!(sum(sums.purposes.values()), sums.total.clone());
            prop_assert_eq!(sum(replies.values()), sums.total.clone());
            let json = serde_json::to_string(&session).unwrap();
            prop_assert_eq!(serde_json::from_str::<SessionUsage>(&json).unwrap(), session);
        }
    }
}
