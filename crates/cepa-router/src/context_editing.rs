//! [`ContextEditing`]: old tool results are left out of requests.

mod edit;

use std::{collections::BTreeSet, sync::Arc};

use cepa_core::{
    ChatResponse, Cx, Middleware, ModelCall, ModelRequest, Next, OrderRule, Purpose, Result, estimate_tokens,
    middleware,
};

/// What stands for a result that was left out.
const PLACEHOLDER: &str =
    "[This result was left out to save room. Call the tool again if what it said is needed.]";

/// Leaves old tool results out of a request once it is long: the model gets a placeholder in their place. The state keeps
/// them all, and each call keeps its result.
///
/// What was left out stays out for the rest of the session, so that the beginning of the requests stays the same for the
/// server's cache, and is left out in one go rather than one by one. Requests that the agent or a layer makes for itself,
/// such as summing up, are not touched. Messages that hold nothing to leave out are shared, not copied.
///
/// ```
/// use cepa_router::ContextEditing;
///
/// let editing = ContextEditing::builder()
///     .above_tokens(20_000)
///     .keep_last(3)
///     .exclude(["read_memory"]) // these results always stay
///     .build();
/// // Agent::builder("Friday").middleware(editing)…
/// # let _ = editing;
/// ```
#[derive(Clone, Debug)]
pub struct ContextEditing {
    above_tokens: Option<u64>,
    keep_last: usize,
    at_least_tokens: u64,
    exclude: BTreeSet<String>,
    arguments: bool,
    placeholder: String,
}

/// Sets a [`ContextEditing`] up.
#[must_use = "nothing is built until `build()`"]
#[derive(Clone, Debug)]
pub struct ContextEditingBuilder(ContextEditing);

impl ContextEditing {
    /// Half of the model's context, the last three results stay.
    pub fn builder() -> ContextEditingBuilder {
        ContextEditingBuilder(Self {
            above_tokens: None,
            keep_last: 3,
            at_least_tokens: 0,
            exclude: BTreeSet::new(),
            arguments: false,
            placeholder: PLACEHOLDER.to_owned(),
        })
    }
}

impl ContextEditingBuilder {
    /// From how many estimated tokens of a request on results are left out: half of the model's context by default.
    pub fn above_tokens(mut self, tokens: u64) -> Self {
        self.0.above_tokens = Some(tokens);
        self
    }

    /// How many of the newest results stay: 3 by default.
    pub fn keep_last(mut self, results: usize) -> Self {
        self.0.keep_last = results;
        self
    }

    /// Results are left out only if that saves so many estimated tokens: each time the beginning of the request changes,
    /// and with it the server's cache is of no use once.
    pub fn at_least_tokens(mut self, tokens: u64) -> Self {
        self.0.at_least_tokens = tokens;
        self
    }

    /// Tools whose results always stay; they do not count among the newest.
    pub fn exclude<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.0.exclude = tools.into_iter().map(Into::into).collect();
        self
    }

    /// Whether the arguments of these calls are left out too: no, by default.
    pub fn clear_arguments(mut self, clear: bool) -> Self {
        self.0.arguments = clear;
        self
    }

    /// What stands for a result that was left out.
    pub fn placeholder(mut self, text: impl Into<String>) -> Self {
        self.0.placeholder = text.into();
        self
    }

    /// Builds the layer.
    pub fn build(self) -> ContextEditing {
        self.0
    }
}

#[middleware]
impl Middleware for ContextEditing {
    fn order(&self) -> &'static [OrderRule] {
        const RULES: &[OrderRule] = &[OrderRule::outside_of(
            "PromptCacheHints",
            "inside, it changes messages that are marked to be cached already",
        )];
        RULES
    }

    async fn on_model_call(
        &self,
        cx: Cx<ModelCall>,
        mut request: ModelRequest,
        next: Next<ModelCall>,
    ) -> Result<ChatResponse> {
        if request.purpose == Purpose::Chat {
            let limit = self
                .above_tokens
                .unwrap_or_else(|| request.model.as_ref().unwrap_or_else(|| cx.model()).context_size() / 2);
            let tokens = estimate_tokens(&request.messages, &request.tools);
            let old = edit::old_results(&request.messages, self.keep_last, &self.exclude);
            let cleared = cx.my_state().update(|cleared: &mut BTreeSet<String>| {
                // Those of results that are gone from the context need not be known any more.
                cleared.retain(|id| old.iter().any(|old| *old.id == **id));
                let fresh: u64 =
                    old.iter().filter(|old| !cleared.contains(&*old.id)).map(|old| old.tokens).sum();
                let out: u64 =
                    old.iter().filter(|old| cleared.contains(&*old.id)).map(|old| old.tokens).sum();
                if tokens.saturating_sub(out) > limit && fresh > 0 && fresh >= self.at_least_tokens {
                    cleared.extend(old.iter().map(|old| old.id.to_string()));
                    tracing::debug!(results = cleared.len(), tokens = fresh, "old tool results are left out");
                }
                cleared.clone()
            })?;
            if !cleared.is_empty() {
                let old = old.into_iter().filter(|old| cleared.contains(&*old.id)).map(|old| old.place);
                let places: BTreeSet<(usize, usize)> = old.collect();
                for at in places.iter().map(|(at, _)| *at).collect::<BTreeSet<_>>() {
                    let edited = edit::without(
                        &request.messages[at],
                        |block| places.contains(&(at, block)),
                        &self.placeholder,
                        self.arguments,
                    );
                    request.messages[at] = Arc::new(edited);
                }
            }
        }
        next.run(request).await
    }
}
