//! [`ToolSelector`]: a model picks the tools that a request offers.

mod ask;

use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

use cepa_core::{
    ChatModel, ChatResponse, Cx, Error, ErrorKind, GENERATE_STRUCTURED_OUTPUT, IntoShared, Middleware,
    ModelCall, ModelRequest, Next, OrderRule, Purpose, Result, ToolChoiceMode, ToolSchema, middleware,
};
use serde::{Deserialize, Serialize};

/// What the requests that pick tools are for.
const PURPOSE: &str = "tool_selection";

/// The tool that switches groups of tools.
const RESET_TOOLS: &str = "reset_tools";

/// Has a model pick the tools that a reply may need, where an agent has many: fewer tools cost less and are called better.
///
/// It asks once in each reply, before the first round, and what was picked is kept with the session, over pauses too. The
/// names are matched exactly and the tools keep their order. If the model fails, takes too long or names no tool that there
/// is, all tools are offered. Tools that a tool choice names, and the one that takes a structured output, are always
/// offered.
///
/// ```
/// use cepa_core::{Agent, testing::{Answer, ScriptedModel, ScriptedTool}};
/// use cepa_router::ToolSelector;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let small = ScriptedModel::new([r#"["weather"]"#]);
/// let selector = ToolSelector::builder().model(small).max_tools(2).always(["search"]).build()?;
/// let model = ScriptedModel::new(["It is sunny."]);
/// let tools = ["search", "weather", "mail", "calendar"].map(ScriptedTool::echo);
/// let mut agent = Agent::builder("Friday").model(model.clone()).tools(tools).middleware(selector).build()?;
/// agent.reply("How is the weather?").await?;
/// let offered: Vec<_> = model.requests()[0].tools.iter().map(|tool| tool.name().to_string()).collect();
/// assert_eq!(offered, ["search", "weather"]);
/// # Ok(()) }
/// ```
pub struct ToolSelector {
    model: Option<Arc<dyn ChatModel>>,
    max_tools: usize,
    always: BTreeSet<String>,
    select: Select,
    timeout: Duration,
}

/// When tools are picked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Select {
    /// Once in each reply.
    #[default]
    PerReply,
    /// Before each round.
    PerRound,
}

/// Sets a [`ToolSelector`] up.
#[must_use = "nothing is built until `build()`"]
pub struct ToolSelectorBuilder(ToolSelector);

/// A selector that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolSelectorError {
    /// No tool would ever be picked.
    #[error("`max_tools` is 0, but must be at least 1")]
    NoTools,
    /// No answer could ever come in time.
    #[error("`timeout` is 0, but must be longer")]
    NoTime,
}

/// What was picked, as it is kept with the session.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Picked {
    reply: String,
    /// The tools it was picked from; others are another question.
    from: Vec<String>,
    /// `None`: all of them.
    names: Option<Vec<String>>,
}

impl ToolSelector {
    /// Eight tools at most, picked by the agent's own model.
    pub fn builder() -> ToolSelectorBuilder {
        ToolSelectorBuilder(Self {
            model: None,
            max_tools: 8,
            always: BTreeSet::new(),
            select: Select::PerReply,
            timeout: Duration::from_secs(15),
        })
    }

    fn is_always(&self, name: &str) -> bool {
        self.always.contains(name) || matches!(name, GENERATE_STRUCTURED_OUTPUT | RESET_TOOLS)
    }

    /// The tools that were picked for this request, or `None` for all.
    async fn picked(&self, cx: &Cx<ModelCall>, request: &ModelRequest) -> Result<Option<Vec<String>>> {
        let reply = cx.reply_id()?.to_string();
        let optional = request.tools.iter().filter(|tool| !self.is_always(tool.name()));
        let optional: Vec<&ToolSchema> = optional.collect();
        let from: Vec<String> = optional.iter().map(|tool| tool.name().to_string()).collect();
        if self.select == Select::PerReply {
            let kept = cx.my_state().get::<Picked>()?;
            if kept.reply == reply && kept.from == from {
                return Ok(kept.names);
            }
        }
        let mut question = ask::question(&request.messages, &optional, self.max_tools);
        question.model.clone_from(&self.model);
        let call = cx.call_model(Purpose::Other(PURPOSE.into()), question);
        let names = match tokio::time::timeout(self.timeout, call).await {
            Err(_) => {
                tracing::warn!(limit = ?self.timeout, "tools were not picked in time: all are offered");
                None
            }
            Ok(Err(error)) if matches!(error.kind(), ErrorKind::Interrupted) => return Err(error),
            Ok(Err(error)) => {
                tracing::warn!(%error, "tools could not be picked: all are offered");
                None
            }
            Ok(Ok(response)) => {
                let names = ask::names(&response.text(), &from, self.max_tools);
                if names.is_none() {
                    tracing::warn!("the model picked no tool that there is: all are offered");
                }
                names
            }
        };
        tracing::debug!(from = from.len(), picked = names.as_ref().map(Vec::len), "tools were picked");
        if self.select == Select::PerReply {
            cx.my_state().set(Picked { reply, from, names: names.clone() })?;
        }
        Ok::<_, Error>(names)
    }
}

impl ToolSelectorBuilder {
    /// The model that picks: the agent's own, by default. A small one will do.
    pub fn model(mut self, model: impl IntoShared<dyn ChatModel>) -> Self {
        self.0.model = Some(model.into_shared());
        self
    }

    /// The most tools that are picked: 8 by default. With no more than that nothing is asked.
    pub fn max_tools(mut self, tools: usize) -> Self {
        self.0.max_tools = tools;
        self
    }

    /// Tools that are always offered, beside those that are picked.
    pub fn always<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.0.always = tools.into_iter().map(Into::into).collect();
        self
    }

    /// When tools are picked: once in each reply, by default.
    pub fn select(mut self, select: Select) -> Self {
        self.0.select = select;
        self
    }

    /// How long picking may take: 15 seconds by default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.0.timeout = timeout;
        self
    }

    /// Builds the layer.
    ///
    /// # Errors
    /// A number of tools or a time of 0.
    pub fn build(self) -> Result<ToolSelector, ToolSelectorError> {
        if self.0.max_tools == 0 {
            return Err(ToolSelectorError::NoTools);
        }
        if self.0.timeout.is_zero() {
            return Err(ToolSelectorError::NoTime);
        }
        Ok(self.0)
    }
}

#[middleware]
impl Middleware for ToolSelector {
    fn order(&self) -> &'static [OrderRule] {
        const RULES: &[OrderRule] = &[
            OrderRule::outside_of("ModelRetry", "inside, each attempt may pick again"),
            OrderRule::outside_of("ModelFallback", "inside, each model of the chain may pick again"),
            OrderRule::outside_of("PromptCacheHints", "inside, the tools change behind what looks at them"),
            OrderRule::outside_of("Timeout", "inside, picking takes from the time of the model call itself"),
        ];
        RULES
    }

    async fn on_model_call(
        &self,
        cx: Cx<ModelCall>,
        mut request: ModelRequest,
        next: Next<ModelCall>,
    ) -> Result<ChatResponse> {
        let optional = request.tools.iter().filter(|tool| !self.is_always(tool.name())).count();
        let none = request.tool_choice.as_ref().is_some_and(|choice| choice.mode == ToolChoiceMode::None);
        if request.purpose != Purpose::Chat || optional <= self.max_tools || none {
            return next.run(request).await;
        }
        if let Some(names) = self.picked(&cx, &request).await? {
            let choice = request.tool_choice.clone();
            let is_chosen = |name: &str| {
                choice.as_ref().is_some_and(|choice| {
                    let listed =
                        choice.tools.as_ref().is_some_and(|tools| tools.iter().any(|tool| **tool == *name));
                    listed || matches!(&choice.mode, ToolChoiceMode::Tool(tool) if **tool == *name)
                })
            };
            let keep = |tool: &&ToolSchema| {
                let name = &**tool.name();
                self.is_always(name) || is_chosen(name) || names.iter().any(|picked| picked == name)
            };
            request.tools = request.tools.iter().filter(keep).cloned().collect();
        }
        next.run(request).await
    }
}

impl fmt::Debug for ToolSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolSelector")
            .field("model", &self.model.as_ref().map(|model| model.name().to_owned()))
            .field("max_tools", &self.max_tools)
            .field("always", &self.always)
            .field("select", &self.select)
            .field("timeout", &self.timeout)
            .finish()
    }
}

impl fmt::Debug for ToolSelectorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolSelectorBuilder").field(&self.0).finish()
    }
}
