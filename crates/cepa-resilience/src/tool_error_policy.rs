//! [`ToolErrorPolicy`].

use std::{collections::BTreeMap, fmt, sync::Arc};

use cepa_core::{
    Acting, ActingInput, Cx, Error, ErrorKind, Id, Jump, Middleware, Msg, Next, OrderRule, Reasoning,
    ReasoningInput, Result, ToolChunk, ToolResponse, ToolResultState, middleware,
};

use crate::{ToolFailure, refused::tool_failed};

/// What becomes of a tool's failure.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum OnToolError {
    /// The model is told, in the tool's own words.
    #[default]
    Tell,
    /// The model is told in the words of this function: see [`OnToolError::tell_with`].
    TellWith(Arc<dyn Fn(&ToolFailure<'_>) -> String + Send + Sync>),
    /// The model is told that the tool failed, and nothing else.
    Hide,
    /// The model is told, in the tool's own words, and the reply ends with what was said last.
    End,
    /// The reply fails: with the tool's error, or with [`ToolFailed`] where the failure was a result.
    Raise,
}

impl OnToolError {
    /// The model is told in these words.
    pub fn tell_with(words: impl Fn(&ToolFailure<'_>) -> String + Send + Sync + 'static) -> Self {
        Self::TellWith(Arc::new(words))
    }

    /// Whether the tool's own words must not go out.
    const fn replaces_words(&self) -> bool {
        matches!(self, Self::TellWith(_) | Self::Hide)
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Tell => "tell",
            Self::TellWith(_) => "tell_with",
            Self::Hide => "hide",
            Self::End => "end",
            Self::Raise => "raise",
        }
    }
}

impl fmt::Debug for OnToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A tool failed, and that ends the reply: see [`OnToolError::Raise`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tool `{tool}` failed: {message}")]
#[non_exhaustive]
pub struct ToolFailed {
    /// The tool.
    pub tool: String,
    /// What it said, cut to 2000 characters.
    pub message: String,
}

/// What the model is told where the details are hidden.
const TOOL_FAILED: &str =
    "The tool failed. There are no details: do not ask for them, and go on without this result.";

/// The most characters of a tool's words in an error.
const MOST_WORDS: usize = 2000;

/// Decides what becomes of tools that fail.
///
/// A tool fails with a result for the model, or with an error: one that is meant for the developer, or a time limit.
/// Without this layer the model is told the first, and the second ends the reply. Calls that a layer refused (a limit
/// that is reached) are not failures of the tool and stay as they are, as do errors of layers.
///
/// Where the tool's own words must not go out ([`Hide`](OnToolError::Hide), [`TellWith`](OnToolError::TellWith)), its
/// output is held back until its end: whatever it has sent before it failed is dropped, the data for the program with it.
///
/// ```
/// use cepa_core::{Agent, serde_json::json, testing::{Answer, ScriptedModel, ScriptedTool, ToolAnswer}};
/// use cepa_resilience::{OnToolError, ToolErrorPolicy};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let policy = ToolErrorPolicy::new()
///     .on_error(OnToolError::tell_with(|failure| format!("`{}` does not work just now.", failure.tool)))
///     .on_developer_error(OnToolError::Hide)
///     .tool("pay", OnToolError::Raise);
/// let model = ScriptedModel::new([Answer::new().tool_call("query", json!({})), Answer::new().text("Sorry.")]);
/// let query = ScriptedTool::new("query", [ToolAnswer::new().fails("postgres://app:hunter2@db refused")]);
/// let mut agent = Agent::builder("Friday").model(model.clone()).tool(query).middleware(policy).build()?;
/// agent.reply("Go").await?;
/// assert!(!format!("{:?}", model.requests()).contains("hunter2"));
/// # Ok(()) }
/// ```
#[derive(Debug, Default)]
pub struct ToolErrorPolicy {
    on_error: OnToolError,
    on_developer_error: Option<OnToolError>,
    tools: BTreeMap<String, OnToolError>,
}

impl ToolErrorPolicy {
    /// As without the layer: results are told, errors end the reply.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What becomes of a failure that is a result for the model. [`OnToolError::Tell`] by default.
    #[must_use]
    pub fn on_error(mut self, then: OnToolError) -> Self {
        self.on_error = then;
        self
    }

    /// What becomes of an error that is meant for the developer, and of a time limit that is an error.
    /// [`OnToolError::Raise`] by default. Where the model is told, the log has the error.
    #[must_use]
    pub fn on_developer_error(mut self, then: OnToolError) -> Self {
        self.on_developer_error = Some(then);
        self
    }

    /// What becomes of any failure of this tool.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<String>, then: OnToolError) -> Self {
        self.tools.insert(tool.into(), then);
        self
    }

    /// What becomes of results and of errors of this tool.
    fn of(&self, tool: &str) -> (&OnToolError, &OnToolError) {
        match self.tools.get(tool) {
            Some(own) => (own, own),
            None => (&self.on_error, self.on_developer_error.as_ref().unwrap_or(&OnToolError::Raise)),
        }
    }

    /// Whether a reply may end by this layer.
    fn may_end(&self) -> bool {
        let all = self.tools.values().chain([&self.on_error]).chain(&self.on_developer_error);
        all.into_iter().any(|then| matches!(then, OnToolError::End))
    }
}

/// Has the reply end before its next round.
fn end_reply(cx: &Cx<Acting>) -> Result<()> {
    let reply_id = match cx.reply_id() {
        Ok(reply_id) => reply_id,
        // The call went on in the background.
        Err(error) if matches!(error.kind(), ErrorKind::ReplyOver) => return Ok(()),
        Err(error) => return Err(error),
    };
    cx.my_state().update(|ended: &mut Option<Id>| *ended = Some(reply_id))
}

/// What the model gets for a failure that is a result.
fn failed_result(
    cx: &Cx<Acting>,
    then: &OnToolError,
    tool: &str,
    response: ToolResponse,
) -> Result<ToolResponse> {
    match then {
        OnToolError::Tell => Ok(response),
        OnToolError::TellWith(words) => {
            let failure = ToolFailure::of_result(tool, response.output_text(), &response.metadata);
            Ok(ToolResponse::error(words(&failure)))
        }
        OnToolError::Hide => Ok(ToolResponse::error(TOOL_FAILED)),
        OnToolError::End => {
            end_reply(cx)?;
            Ok(response)
        }
        OnToolError::Raise => {
            let message = response.output_text().chars().take(MOST_WORDS).collect();
            Err(Error::other(ToolFailed { tool: tool.to_owned(), message }))
        }
    }
}

/// What the model gets for an error.
async fn failed_with(cx: &Cx<Acting>, then: &OnToolError, failure: &ToolFailure<'_>) -> Result<ToolResponse> {
    let text = match then {
        OnToolError::TellWith(words) => words(failure),
        OnToolError::Hide => TOOL_FAILED.to_owned(),
        _ => failure.text.clone().into_owned(),
    };
    if matches!(then, OnToolError::End) {
        end_reply(cx)?;
    }
    // What the tool sent before stays.
    let text = if cx.sent() > 0 { format!("\n{text}") } else { text };
    cx.emit(ToolChunk::text(text)).await;
    Ok(ToolResponse::streamed().with_state(ToolResultState::Error))
}

#[middleware]
impl Middleware for ToolErrorPolicy {
    fn order(&self) -> &'static [OrderRule] {
        const RULES: &[OrderRule] = &[
            OrderRule::outside_of(
                "ToolRetry",
                "inside, an error is put in other words or ends the reply at the first attempt",
            ),
            OrderRule::outside_of("Timeout", "inside, a call that takes too long is no failure for it"),
        ];
        RULES
    }

    async fn on_acting(
        &self,
        cx: Cx<Acting>,
        input: ActingInput,
        next: Next<Acting>,
    ) -> Result<ToolResponse> {
        let tool = input.tool_call.name.clone();
        let (on_error, on_developer_error) = self.of(&tool);
        let result = if on_error.replaces_words() || on_developer_error.replaces_words() {
            next.hold(input).await
        } else if matches!(on_error, OnToolError::Raise) {
            next.collect(input).await
        } else {
            next.run(input).await
        };
        match result {
            Ok(response) if tool_failed(&response) => {
                tracing::debug!(tool = %tool, then = on_error.name(), "a tool failed");
                failed_result(&cx, on_error, &tool, response)
            }
            Ok(response) => Ok(response),
            Err(error) => match ToolFailure::of_error(&tool, &error) {
                Some(failure) if !matches!(on_developer_error, OnToolError::Raise) => {
                    tracing::warn!(tool = %tool, then = on_developer_error.name(), %error, "a tool failed");
                    failed_with(&cx, on_developer_error, &failure).await
                }
                _ => Err(error),
            },
        }
    }

    async fn on_reasoning(
        &self,
        cx: Cx<Reasoning>,
        input: ReasoningInput,
        next: Next<Reasoning>,
    ) -> Result<Option<Msg>> {
        if self.may_end() {
            let reply_id = cx.reply_id()?;
            if cx.my_state().get::<Option<Id>>()? == Some(reply_id) {
                return cx.jump(Jump::End, None);
            }
        }
        next.run(input).await
    }
}
