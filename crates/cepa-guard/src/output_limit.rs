//! [`ToolOutputLimit`]: no tool floods the context.

mod meter;

use std::{fmt, sync::Arc};

use cepa_core::{
    Acting, ActingInput, BoxFuture, Cx, Id, Items, Middleware, Next, OrderRule, OutputBlock, Result,
    TextBlock, ToolChunk, ToolResponse, middleware,
};

use self::meter::{Meter, Taken};
use crate::screen::floor;

/// Cuts a tool's output at a limit, while it streams, and says so to the model.
///
/// The text is cut between characters as a reader sees them (grapheme clusters), also where a piece ends in the middle
/// of one. What comes after the cut is dropped; the tool is stopped, or read to its end.
///
/// ```
/// use cepa_core::{Agent, testing::{ScriptedModel, ScriptedTool, Answer}, serde_json::json};
/// use cepa_guard::ToolOutputLimit;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let limit = ToolOutputLimit::builder().max_lines(2).build()?;
/// let model = ScriptedModel::new([Answer::new().tool_call("list", json!({})), "Two.".into()]);
/// let tool = ScriptedTool::new("list", ["a.txt\nb.txt\nc.txt\n"]);
/// let mut agent = Agent::builder("Friday").model(model).tool(tool).middleware(limit).build()?;
/// agent.reply("What is there?").await?;
/// let state = agent.state()?;
/// let output = &state.context[1].tool_results().next().unwrap().output;
/// assert_eq!(output.text(), "a.txt\nb.txt\n\n[The output was cut here at 2 lines; the tool was stopped.]");
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct ToolOutputLimit {
    limits: Limits,
    at_limit: AtLimit,
    keep: Option<Keep>,
    keep_most: usize,
}

/// What becomes of a tool whose output has reached its limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AtLimit {
    /// It is stopped: dropped where it stands.
    #[default]
    Stop,
    /// It runs to its end, and the rest of its output is dropped. For tools whose work must be done.
    ReadToEnd,
}

/// The whole output of a tool whose result was cut.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FullOutput {
    /// The call.
    pub tool_call_id: Id,
    /// The tool.
    pub tool_name: Arc<str>,
    /// All of its text.
    pub text: String,
    /// Whether even this is not all: the tool wrote more than is kept at most.
    pub is_cut: bool,
}

type Keep = Arc<dyn Fn(FullOutput) -> BoxFuture<'static, Result<String>> + Send + Sync>;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    bytes: Option<usize>,
    lines: Option<usize>,
    tokens: Option<usize>,
}

impl ToolOutputLimit {
    /// A layer without a limit yet.
    pub fn builder() -> ToolOutputLimitBuilder {
        ToolOutputLimitBuilder {
            layer: Self {
                limits: Limits::default(),
                at_limit: AtLimit::default(),
                keep: None,
                keep_most: 16 << 20,
            },
        }
    }
}

/// Sets a [`ToolOutputLimit`] up.
#[must_use = "nothing is built until `build()`"]
#[derive(Debug)]
pub struct ToolOutputLimitBuilder {
    layer: ToolOutputLimit,
}

/// A limit that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutputLimitError {
    /// None of the three limits is set.
    #[error("there is no limit: set `max_bytes`, `max_lines` or `max_tokens`")]
    NoLimit,
    /// A limit of nothing.
    #[error("`{0}` is 0, but must be at least 1")]
    Zero(&'static str),
}

impl ToolOutputLimitBuilder {
    /// The most bytes of a result. Data counts as the bytes of its base64 text.
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.layer.limits.bytes = Some(bytes);
        self
    }

    /// The most lines of a result.
    pub fn max_lines(mut self, lines: usize) -> Self {
        self.layer.limits.lines = Some(lines);
        self
    }

    /// The most tokens of a result, estimated as the agent does: a quarter of the bytes.
    pub fn max_tokens(mut self, tokens: usize) -> Self {
        self.layer.limits.tokens = Some(tokens);
        self
    }

    /// What becomes of the tool at the limit: it is stopped by default.
    pub fn at_limit(mut self, at_limit: AtLimit) -> Self {
        self.layer.at_limit = at_limit;
        self
    }

    /// Hands the whole text of a result that was cut to `keep`, which says where it is to be found; the model is told.
    /// The tool is read to its end. When `keep` fails, the model is told that the rest is lost, and a warning is logged.
    pub fn keep_full<F>(mut self, keep: impl Fn(FullOutput) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<String>> + Send + 'static,
    {
        self.layer.keep = Some(Arc::new(move |output| Box::pin(keep(output))));
        self.layer.at_limit = AtLimit::ReadToEnd;
        self
    }

    /// The most bytes that are gathered for [`keep_full`](Self::keep_full): 16 MiB by default.
    pub fn keep_at_most(mut self, bytes: usize) -> Self {
        self.layer.keep_most = bytes;
        self
    }

    /// Checks the limits and builds the layer.
    ///
    /// # Errors
    /// No limit, or one of 0.
    pub fn build(self) -> std::result::Result<ToolOutputLimit, OutputLimitError> {
        let Limits { bytes, lines, tokens } = self.layer.limits;
        let limits = [("max_bytes", bytes), ("max_lines", lines), ("max_tokens", tokens)];
        if limits.iter().all(|(_, limit)| limit.is_none()) {
            return Err(OutputLimitError::NoLimit);
        }
        match limits.into_iter().find(|(_, limit)| *limit == Some(0)) {
            Some((name, _)) => Err(OutputLimitError::Zero(name)),
            None => Ok(self.layer),
        }
    }
}

/// The metadata of a result that was cut.
const OUTPUT_CUT: &str = "output_cut";

#[middleware]
impl Middleware for ToolOutputLimit {
    fn order(&self) -> &'static [OrderRule] {
        const RULES: &[OrderRule] = &[
            OrderRule::outside_of(
                "PiiGuard",
                "inside, a cut may part a value, and what is kept elsewhere is not clean",
            ),
            OrderRule::outside_of(
                "SecretScrub",
                "inside, a cut may part a secret, and what is kept elsewhere is not clean",
            ),
            OrderRule::outside_of(
                "ToolRetry",
                "inside, each attempt counts for itself, and a retry repeats what was kept",
            ),
        ];
        RULES
    }

    async fn on_acting(
        &self,
        cx: Cx<Acting>,
        input: ActingInput,
        next: Next<Acting>,
    ) -> Result<ToolResponse> {
        let call = input.tool_call.clone();
        let mut meter = Meter::new(self.limits);
        let mut full = self.keep.as_ref().map(|_| String::new());
        let mut items = next.stream(input);
        let mut cut = None;
        while let Some(mut chunk) = items.next().await {
            let content = std::mem::take(&mut chunk.content);
            for block in content {
                if let (Some(full), OutputBlock::Text(block)) = (&mut full, &block) {
                    full.push_str(&block.text);
                }
                if cut.is_none() {
                    cut = meter.take(block, &mut chunk.content);
                }
            }
            if !chunk.content.is_empty() || !chunk.metadata.is_empty() {
                cx.emit(chunk).await;
            }
            let has_all = full.as_ref().is_some_and(|full| full.len() > self.keep_most);
            if cut.is_some() && (self.at_limit == AtLimit::Stop || has_all) {
                break;
            }
        }
        let Some(limit) = cut else {
            let response = items.finish().await?;
            if let Some(rest) = meter.rest() {
                cx.emit(ToolChunk::text(rest)).await;
            }
            return Ok(response);
        };
        self.end(cx, items, limit, full, call.id, call.name).await
    }
}

impl ToolOutputLimit {
    /// What happens behind the cut.
    async fn end(
        &self,
        cx: Cx<Acting>,
        items: Items<Acting>,
        limit: Taken,
        full: Option<String>,
        tool_call_id: Id,
        tool_name: Arc<str>,
    ) -> Result<ToolResponse> {
        let mut response = match self.at_limit {
            AtLimit::Stop => {
                drop(items);
                ToolResponse::streamed()
            }
            AtLimit::ReadToEnd if full.as_ref().is_some_and(|full| full.len() > self.keep_most) => {
                drop(items);
                ToolResponse::streamed()
            }
            AtLimit::ReadToEnd => items.finish().await?,
        };
        tracing::debug!(tool = &*tool_name, %limit, "a tool's output was cut");
        let what_else = match (&self.keep, full) {
            (Some(keep), Some(mut text)) => {
                let is_cut = text.len() > self.keep_most;
                text.truncate(floor(&text, self.keep_most));
                match keep(FullOutput { tool_call_id, tool_name: tool_name.clone(), text, is_cut }).await {
                    Ok(place) => format!("all of it is at {place}"),
                    Err(error) => {
                        tracing::warn!(tool = &*tool_name, %error, "the whole output of a tool could not be kept");
                        "the rest could not be kept".to_owned()
                    }
                }
            }
            _ if self.at_limit == AtLimit::Stop => "the tool was stopped".to_owned(),
            _ => "the rest is not shown".to_owned(),
        };
        let notice = format!("\n[The output was cut here at {limit}; {what_else}.]");
        cx.emit(ToolChunk::from_blocks(vec![TextBlock::new(notice).into()])).await;
        response.metadata.insert(OUTPUT_CUT, limit.to_string());
        Ok(response)
    }
}

impl fmt::Debug for ToolOutputLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolOutputLimit")
            .field("limits", &self.limits)
            .field("at_limit", &self.at_limit)
            .field("keeps_full", &self.keep.is_some())
            .finish_non_exhaustive()
    }
}
