//! The budget as a layer.

use std::{
    fmt,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use cepa_core::{
    ChatResponse, ContentBlock, Cx, Error, GENERATE_STRUCTURED_OUTPUT, HintBlock, Jump, Middleware,
    ModelCall, ModelRequest, Msg, Next, Reasoning, ReasoningInput, Result, TextOrBlocks, ToolChoice,
    ToolChoiceMode, middleware,
};

use crate::{
    builder::Builder,
    call::{Call, size},
    spent::Spent,
    texts,
};

/// Has the agent wrap up when the token budget of a reply, or of a session, is spent (AgentScope 2.0.11's middleware of
/// the same name).
///
/// The cost of each model call is `input_token_weight × input tokens + output_token_weight × output tokens`; calls that
/// the agent or a layer makes for itself count as well, and so does each attempt. Once the sum has reached the budget,
/// the model gets a hint and may call no tool any more, but for the one that takes a structured output which is still
/// owed. The sum is kept with the session, so that it lasts over pauses; one instance serves any number of agents.
///
/// Where the server does not say what a call cost, an estimate counts (a quarter of the bytes), and a warning is logged
/// once. A call that was cut off, by an interrupt or because nobody reads the reply any more, before the server said it is
/// estimated for a session's budget, and is free for a reply's, which ends there.
pub struct ReplyBudgetControlMiddleware {
    pub(crate) token_budget: f64,
    pub(crate) input_token_weight: f64,
    pub(crate) output_token_weight: f64,
    pub(crate) hint_message: String,
    pub(crate) per: Per,
    pub(crate) at_end: AtEnd,
    pub(crate) allowed_tools: Vec<String>,
    pub(crate) warned: AtomicBool,
}

/// What a budget is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Per {
    /// Each reply has the whole budget.
    #[default]
    Reply,
    /// All replies of a session share it.
    Session,
}

/// What happens when a budget is spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AtEnd {
    /// The model is told, and answers once more without tools.
    #[default]
    Hint,
    /// The reply ends with what was said last, without another model call.
    End,
    /// The reply fails with [`BudgetSpent`].
    Error,
}

/// A budget is spent, and that is an error: see [`AtEnd::Error`].
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the token budget is spent: {spent} of {budget}")]
#[non_exhaustive]
pub struct BudgetSpent {
    /// Weighted tokens spent.
    pub spent: f64,
    /// The budget.
    pub budget: f64,
}

/// The name under which a session's sum is kept.
const SESSION: &str = "session";

impl ReplyBudgetControlMiddleware {
    /// A budget of so many weighted tokens, with weights of 1.
    pub fn builder(token_budget: impl Into<f64>) -> Builder {
        Builder::new(token_budget.into())
    }

    /// The name of the sum that counts now.
    pub(crate) fn account(&self, reply_id: &cepa_core::Id) -> String {
        match self.per {
            Per::Reply => reply_id.to_string(),
            Per::Session => SESSION.to_owned(),
        }
    }

    /// The weighted cost of a call.
    pub(crate) fn cost(&self, input_tokens: u64, output_tokens: u64) -> f64 {
        self.input_token_weight * input_tokens as f64 + self.output_token_weight * output_tokens as f64
    }

    pub(crate) fn warn_once(&self, model: &str) {
        if !self.warned.swap(true, Relaxed) {
            tracing::warn!(model, "the model does not say what a call cost: the budget counts estimates");
        }
    }

    /// What the model may still do, and what it is told.
    fn wrap_up(&self, asked: Option<&ToolChoice>, owes_structured_output: bool) -> (ToolChoice, String) {
        if owes_structured_output {
            // Not forced by us: some servers refuse a forced choice.
            let forced = matches!(asked, Some(ToolChoice { mode: ToolChoiceMode::Tool(name), .. }) if name == GENERATE_STRUCTURED_OUTPUT);
            let choice =
                if forced { ToolChoice::tool(GENERATE_STRUCTURED_OUTPUT) } else { ToolChoice::auto() };
            let allowed = self.allowed_tools.iter().map(String::as_str).chain([GENERATE_STRUCTURED_OUTPUT]);
            let hint = texts::HINT_BUDGET_STRUCTURED.replace("{tool_name}", GENERATE_STRUCTURED_OUTPUT);
            return (choice.with_tools(allowed), hint);
        }
        if self.allowed_tools.is_empty() {
            return (ToolChoice::none(), self.hint_message.clone());
        }
        let hint = texts::HINT_BUDGET_TOOLS.replace("{tool_names}", &self.allowed_tools.join(", "));
        (ToolChoice::auto().with_tools(self.allowed_tools.iter().map(String::as_str)), hint)
    }
}

#[middleware]
impl Middleware for ReplyBudgetControlMiddleware {
    async fn on_model_call(
        &self,
        cx: Cx<ModelCall>,
        request: ModelRequest,
        next: Next<ModelCall>,
    ) -> Result<ChatResponse> {
        let (next, meter) = next.metered();
        let call = Call::new(self, &cx, &request, meter);
        let bytes = call.bytes.clone();
        let result = next.tap_shared(request, move |chunk| _ = bytes.fetch_add(size(chunk), Relaxed)).await;
        call.end(&result)?;
        result
    }

    async fn on_reasoning(
        &self,
        cx: Cx<Reasoning>,
        mut input: ReasoningInput,
        next: Next<Reasoning>,
    ) -> Result<Option<Msg>> {
        let account = self.account(&cx.reply_id()?);
        let spent = cx.my_state().update(|spent: &mut Spent| spent.on(&account))?;
        if spent < self.token_budget {
            return next.run(input).await;
        }
        match self.at_end {
            AtEnd::Hint => {}
            AtEnd::End => return cx.jump(Jump::End, None),
            AtEnd::Error => return Err(Error::other(BudgetSpent { spent, budget: self.token_budget })),
        }
        {
            let mut state = cx.state()?;
            let reply = &state.reply_context;
            let owes = reply.structured_schema.is_some() && reply.structured_output.is_none();
            let (choice, hint) = self.wrap_up(input.tool_choice.as_ref(), owes);
            input.tool_choice = Some(choice);
            let told = state.context.last().is_some_and(|msg| {
                matches!(msg.content.last(), Some(ContentBlock::Hint(last)) if last.hint == TextOrBlocks::Text(hint.clone()))
            });
            // A layer outside may run the round again: it is told once.
            if !told {
                state.append_context(cx.agent_name(), [ContentBlock::Hint(HintBlock::new(hint))]);
            }
        }
        next.run(input).await
    }
}

impl fmt::Debug for ReplyBudgetControlMiddleware {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyBudgetControlMiddleware")
            .field("token_budget", &self.token_budget)
            .field("input_token_weight", &self.input_token_weight)
            .field("output_token_weight", &self.output_token_weight)
            .field("per", &self.per)
            .field("at_end", &self.at_end)
            .finish_non_exhaustive()
    }
}
