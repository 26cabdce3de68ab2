//! [`ModelCallLimit`].

use std::sync::Arc;

use cepa_core::{
    ChatResponse, CompressInput, Cx, Error, GENERATE_STRUCTURED_OUTPUT, Jump, Middleware, ModelCall,
    ModelRequest, Msg, Next, OrderRule, Purpose, Reasoning, ReasoningInput, Result, ToolChoice,
    ToolChoiceMode, chain::Compress, middleware,
};

use crate::{
    AtLimit, LimitReached, OptionError,
    limits::{Limits, counts::Counts, texts},
};

/// Limits how many model calls a reply and a session may make.
///
/// Each request that reaches the layer counts: further attempts of the agent and of a retry that stands outside, and the
/// calls that the agent and its layers make for themselves (summaries, routing). There are never more than the limit.
/// The counts are kept with the session, so that they last over pauses; one instance serves any number of agents.
///
/// With [`AtLimit::Continue`] the last call that is left is kept for the answer: the model is told, and may call no tool
/// but the one that takes a structured output which is still owed. A call of another purpose is refused then; a refused
/// compression of the context is left out.
///
/// ```
/// use cepa_core::{Agent, serde_json::json, testing::{Answer, ScriptedModel, ScriptedTool}};
/// use cepa_resilience::ModelCallLimit;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // A model that would look for ever.
/// let model = ScriptedModel::answering(|request| match &request.tool_choice {
///     Some(_no_tools) => Answer::new().text("This is what I know."),
///     None => Answer::new().tool_call("look", json!({})),
/// });
/// let limit = ModelCallLimit::builder().per_reply(3).per_session(100).build()?;
/// let mut agent =
///     Agent::builder("Friday").model(model.clone()).tool(ScriptedTool::echo("look")).middleware(limit).build()?;
/// assert_eq!(agent.reply("Go").await?.text().as_deref(), Some("This is what I know."));
/// assert_eq!(model.requests().len(), 3);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct ModelCallLimit {
    limits: Limits,
    at_limit: AtLimit,
}

/// Sets a [`ModelCallLimit`] up.
#[must_use = "nothing is built until `build()`"]
#[derive(Clone, Debug, Default)]
pub struct ModelCallLimitBuilder {
    limits: Limits,
    at_limit: AtLimit,
}

impl ModelCallLimitBuilder {
    /// The most calls of each reply.
    pub fn per_reply(mut self, calls: u64) -> Self {
        self.limits.reply = Some(calls);
        self
    }

    /// The most calls of all replies of a session together.
    pub fn per_session(mut self, calls: u64) -> Self {
        self.limits.session = Some(calls);
        self
    }

    /// What happens at the limit. [`AtLimit::Continue`] by default.
    pub fn at_limit(mut self, at_limit: AtLimit) -> Self {
        self.at_limit = at_limit;
        self
    }

    /// Checks the numbers and builds the layer.
    ///
    /// # Errors
    /// No limit, or one of 0.
    pub fn build(self) -> Result<ModelCallLimit, OptionError> {
        if self.limits.is_empty() {
            return Err(OptionError::new("per_reply", "not set", "set, or `per_session`"));
        }
        for (option, limit) in [("per_reply", self.limits.reply), ("per_session", self.limits.session)] {
            limit.map_or(Ok(()), |limit| OptionError::check_count(option, limit))?;
        }
        Ok(ModelCallLimit { limits: self.limits, at_limit: self.at_limit })
    }
}

/// What a call may still do.
enum Allowed {
    Any,
    /// It is the last one, by this limit.
    Last(LimitReached),
}

impl ModelCallLimit {
    /// A layer without limits yet.
    pub fn builder() -> ModelCallLimitBuilder {
        ModelCallLimitBuilder::default()
    }

    /// The limit that so many calls reach, if they do.
    fn reached(&self, (in_reply, in_session): (u64, u64)) -> Option<LimitReached> {
        let (limit, per) = self.limits.reached(in_reply, in_session)?;
        Some(LimitReached { model: true, tool: None, limit, per })
    }

    /// Counts a call, if there may be one more.
    fn take(&self, counts: &mut Counts, purpose: &Purpose) -> Result<Allowed, LimitReached> {
        let (in_reply, in_session) = counts.total();
        if let Some(reached) = self.reached((in_reply, in_session)) {
            return Err(reached);
        }
        let last =
            self.reached((in_reply + 1, in_session + 1)).filter(|_| self.at_limit == AtLimit::Continue);
        match last {
            Some(reached) if *purpose != Purpose::Chat => return Err(reached),
            _ => counts.add(None),
        }
        Ok(last.map_or(Allowed::Any, Allowed::Last))
    }

    /// Has the model bring the reply to an end.
    fn wrap_up(request: &mut ModelRequest, limit: &LimitReached, owes_structured_output: bool) {
        let mut hint = texts::HINT_LAST_MODEL_CALL;
        if owes_structured_output {
            hint = texts::HINT_LAST_MODEL_CALL_STRUCTURED;
            // Not forced by us: some servers refuse a forced choice.
            let forced = matches!(&request.tool_choice, Some(ToolChoice { mode: ToolChoiceMode::Tool(name), .. }) if name == GENERATE_STRUCTURED_OUTPUT);
            if !forced {
                request.tool_choice = Some(ToolChoice::auto().with_tools([GENERATE_STRUCTURED_OUTPUT]));
            }
        } else if !request.tools.is_empty() {
            request.tool_choice = Some(ToolChoice::none());
        }
        let hint = hint
            .replace("{limit}", &limit.limit.to_string())
            .replace("{per}", &limit.per.to_string())
            .replace("{tool_name}", GENERATE_STRUCTURED_OUTPUT);
        request.messages.push(Arc::new(Msg::user("user", hint)));
    }

    /// Whether this error is the limit's, and the reply is to end without it.
    fn ends_by(&self, error: &Error) -> bool {
        let own = error.downcast_ref::<LimitReached>().is_some_and(|reached| reached.model);
        own && self.at_limit != AtLimit::Error
    }
}

#[middleware]
impl Middleware for ModelCallLimit {
    fn order(&self) -> &'static [OrderRule] {
        const RULES: &[OrderRule] = &[
            OrderRule::inside_of("ModelRetry", "outside, all its attempts count as one call"),
            OrderRule::inside_of("ModelFallback", "outside, the calls of all its models count as one"),
            OrderRule::outside_of(
                "RateLimit",
                "inside, a call that is refused has used up a share of the rate",
            ),
            OrderRule::outside_of("ConcurrencyLimit", "inside, a call waits its turn only to be refused"),
        ];
        RULES
    }

    async fn on_model_call(
        &self,
        cx: Cx<ModelCall>,
        mut request: ModelRequest,
        next: Next<ModelCall>,
    ) -> Result<ChatResponse> {
        let reply_id = cx.reply_id()?;
        let taken = cx
            .my_state()
            .update(|counts: &mut Counts| self.take(counts.of_reply(&reply_id), &request.purpose))?;
        match taken {
            Ok(Allowed::Any) => {}
            Ok(Allowed::Last(limit)) => {
                tracing::debug!(limit = limit.limit, per = %limit.per, "the last model call that is left");
                let owes = {
                    let state = cx.state()?;
                    let reply = &state.reply_context;
                    reply.structured_schema.is_some() && reply.structured_output.is_none()
                };
                Self::wrap_up(&mut request, &limit, owes);
            }
            Err(reached) => {
                let purpose = &request.purpose;
                tracing::warn!(limit = reached.limit, per = %reached.per, %purpose, "no model call is left");
                return Err(Error::other(reached));
            }
        }
        next.run(request).await
    }

    async fn on_reasoning(
        &self,
        cx: Cx<Reasoning>,
        input: ReasoningInput,
        next: Next<Reasoning>,
    ) -> Result<Option<Msg>> {
        let reply_id = cx.reply_id()?;
        let counted = cx.my_state().update(|counts: &mut Counts| counts.of_reply(&reply_id).total())?;
        if let Some(reached) = self.reached(counted) {
            tracing::warn!(limit = reached.limit, per = %reached.per, "no model call is left");
            return match self.at_limit {
                AtLimit::Error => Err(Error::other(reached)),
                AtLimit::Continue | AtLimit::End => cx.jump(Jump::End, None),
            };
        }
        match next.run(input).await {
            // A further attempt had none left.
            Err(error) if self.ends_by(&error) => cx.jump(Jump::End, None),
            result => result,
        }
    }

    async fn on_compress_context(
        &self,
        _cx: Cx<Compress>,
        input: CompressInput,
        next: Next<Compress>,
    ) -> Result<()> {
        match next.run(input).await {
            Err(error) if self.ends_by(&error) => Ok(()),
            result => result,
        }
    }
}
