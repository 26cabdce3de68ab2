//! [`ToolCallLimit`].

use std::collections::BTreeMap;

use cepa_core::{
    Acting, ActingInput, Cx, Error, ErrorKind, GENERATE_STRUCTURED_OUTPUT, Jump, Middleware, Msg, Next,
    OrderRule, Reasoning, ReasoningInput, Result, ToolResponse, middleware,
};

use crate::{
    AtLimit, LimitReached, OptionError,
    limits::{Limits, counts::Counts, texts},
    refused::refuse,
};

/// Limits how many tool calls a reply and a session may make: altogether, and of single tools.
///
/// Each call that reaches the layer counts, further attempts of a [`ToolRetry`](crate::ToolRetry) that stands outside
/// included; calls that are refused do not, nor do attempts in the
/// background after the end of the reply. The counts are kept with the session, so that they last over pauses; one
/// instance serves any number of agents. The tool that takes a structured output is never limited.
///
/// ```
/// use cepa_core::{Agent, serde_json::json, testing::{Answer, ScriptedModel, ScriptedTool}};
/// use cepa_resilience::ToolCallLimit;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([
///     Answer::new().tool_call("search", json!({"q": "a"})).tool_call("search", json!({"q": "b"})),
///     Answer::new().text("One search has to do."),
/// ]);
/// let search = ScriptedTool::echo("search");
/// let limit = ToolCallLimit::builder().per_reply(30).tool_per_reply("search", 1).build()?;
/// let mut agent = Agent::builder("Friday").model(model).tool(search.clone()).middleware(limit).build()?;
/// agent.reply("Go").await?;
/// assert_eq!(search.calls(), [json!({"q": "a"})]);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct ToolCallLimit {
    total: Limits,
    tools: BTreeMap<String, Limits>,
    at_limit: AtLimit,
}

/// Sets a [`ToolCallLimit`] up.
#[must_use = "nothing is built until `build()`"]
#[derive(Clone, Debug, Default)]
pub struct ToolCallLimitBuilder {
    total: Limits,
    tools: BTreeMap<String, Limits>,
    at_limit: AtLimit,
}

impl ToolCallLimitBuilder {
    /// The most calls of each reply, of all tools together.
    pub fn per_reply(mut self, calls: u64) -> Self {
        self.total.reply = Some(calls);
        self
    }

    /// The most calls of all replies of a session together, of all tools together.
    pub fn per_session(mut self, calls: u64) -> Self {
        self.total.session = Some(calls);
        self
    }

    /// The most calls of this tool in each reply; 0 for none at all.
    pub fn tool_per_reply(mut self, tool: impl Into<String>, calls: u64) -> Self {
        self.tools.entry(tool.into()).or_default().reply = Some(calls);
        self
    }

    /// The most calls of this tool in all replies of a session together; 0 for none at all.
    pub fn tool_per_session(mut self, tool: impl Into<String>, calls: u64) -> Self {
        self.tools.entry(tool.into()).or_default().session = Some(calls);
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
    /// No limit at all, or one of 0 for all tools.
    pub fn build(self) -> Result<ToolCallLimit, OptionError> {
        if self.total.is_empty() && self.tools.is_empty() {
            return Err(OptionError::new("per_reply", "not set", "set, or another limit"));
        }
        for (option, limit) in [("per_reply", self.total.reply), ("per_session", self.total.session)] {
            limit.map_or(Ok(()), |limit| OptionError::check_count(option, limit))?;
        }
        Ok(ToolCallLimit { total: self.total, tools: self.tools, at_limit: self.at_limit })
    }
}

impl ToolCallLimit {
    /// A layer without limits yet.
    pub fn builder() -> ToolCallLimitBuilder {
        ToolCallLimitBuilder::default()
    }

    /// Counts a call of this tool, if there may be one more.
    fn take(&self, counts: &mut Counts, tool: &str) -> Result<(), LimitReached> {
        let own = self.tools.get(tool);
        if let Some(limits) = own {
            let (in_reply, in_session) = counts.of_tool(tool);
            if let Some((limit, per)) = limits.reached(in_reply, in_session) {
                return Err(LimitReached { model: false, tool: Some(tool.to_owned()), limit, per });
            }
        }
        let (in_reply, in_session) = counts.total();
        if let Some((limit, per)) = self.total.reached(in_reply, in_session) {
            return Err(LimitReached { model: false, tool: None, limit, per });
        }
        counts.add(own.map(|_| tool));
        Ok(())
    }
}

#[middleware]
impl Middleware for ToolCallLimit {
    fn order(&self) -> &'static [OrderRule] {
        const RULES: &[OrderRule] = &[
            OrderRule::inside_of("ToolRetry", "outside, all its attempts count as one call"),
            OrderRule::outside_of("ConcurrencyLimit", "inside, a call waits its turn only to be refused"),
        ];
        RULES
    }

    async fn on_acting(
        &self,
        cx: Cx<Acting>,
        input: ActingInput,
        next: Next<Acting>,
    ) -> Result<ToolResponse> {
        let tool = &input.tool_call.name;
        if **tool == *GENERATE_STRUCTURED_OUTPUT {
            return next.run(input).await;
        }
        let reply_id = match cx.reply_id() {
            // A further attempt in the background, after the reply: its counts are closed.
            Err(error) if cx.is_detached() && matches!(error.kind(), ErrorKind::ReplyOver) => {
                return next.run(input).await;
            }
            reply_id => reply_id?,
        };
        let taken = cx.my_state().update(|counts: &mut Counts| {
            let counts = counts.of_reply(&reply_id);
            let taken = self.take(counts, tool);
            if taken.is_err() && self.at_limit == AtLimit::End {
                counts.end();
            }
            taken
        })?;
        let Err(reached) = taken else { return next.run(input).await };
        drop(next);
        tracing::warn!(tool = %tool, limit = reached.limit, per = %reached.per, "no tool call is left");
        if self.at_limit == AtLimit::Error {
            return Err(Error::other(reached));
        }
        let text = texts::TOOL_LIMIT
            .replace("{limit}", &reached.limit.to_string())
            .replace("{per}", &reached.per.to_string())
            .replace("{what}", &reached.what());
        Ok(refuse("ToolCallLimit", text))
    }

    async fn on_reasoning(
        &self,
        cx: Cx<Reasoning>,
        input: ReasoningInput,
        next: Next<Reasoning>,
    ) -> Result<Option<Msg>> {
        let reply_id = cx.reply_id()?;
        let ended = cx.my_state().update(|counts: &mut Counts| counts.of_reply(&reply_id).is_ended())?;
        if ended {
            return cx.jump(Jump::End, None);
        }
        next.run(input).await
    }
}
