//! Chat models: the trait, its request and its response.

mod chunk;
mod estimate;
mod finished;
mod fold;
mod outlet;
mod request;
mod response;
mod tool_choice;
mod usage;

use std::{fmt, sync::Arc};

pub(crate) use self::fold::ResponseFold;
pub use self::{
    chunk::{ChatChunk, ContentDelta},
    estimate::estimate_tokens,
    finished::FinishedReason,
    outlet::ModelOutlet,
    request::{ModelOptions, ModelRequest, Purpose, ToolSchema},
    response::ChatResponse,
    tool_choice::{ToolChoice, ToolChoiceMode},
    usage::ChatUsage,
};
use crate::{
    chain::{BoxFuture, Outlet, Reported, Tap},
    error::Result,
    message::Msg,
};

/// A chat model.
///
/// It streams its content as [`ChatChunk`]s through the [`ModelOutlet`] and returns the envelope; one that does not
/// stream returns its content in the response ([`ChatResponse::own`]) and the chain sends it.
///
/// ```
/// use cepa_core::{BoxFuture, ChatChunk, ChatModel, ChatResponse, ModelOutlet, ModelRequest, Result, generate};
///
/// /// Repeats what the user said, word by word.
/// #[derive(Debug)]
/// struct Parrot;
///
/// impl ChatModel for Parrot {
///     fn name(&self) -> &str {
///         "parrot"
///     }
///
///     fn call(&self, request: ModelRequest, out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
///         Box::pin(async move {
///             let said = request.messages.last().and_then(|msg| msg.text()).unwrap_or_default();
///             for word in said.split_inclusive(' ') {
///                 out.emit(ChatChunk::text(word)).await;
///             }
///             Ok(ChatResponse::streamed())
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let request = ModelRequest::new([cepa_core::Msg::user("user", "good morning")]);
/// let response = generate(&Parrot, request).await?;
/// assert_eq!(response.text(), "good morning");
/// # Ok(()) }
/// ```
pub trait ChatModel: fmt::Debug + Send + Sync + 'static {
    /// The model's name, as the server knows it.
    fn name(&self) -> &str;

    /// Who runs it, by the names of the OpenTelemetry GenAI semantic conventions (`openai`, `deepseek`, …): what traces
    /// call `gen_ai.provider.name`. `unknown` by default, as in AgentScope 2.0.11.
    fn provider(&self) -> &str {
        "unknown"
    }

    /// Parameters that the model adds to each request where the request does not set them.
    fn default_options(&self) -> Option<&ModelOptions> {
        None
    }

    /// How many tokens a request and its answer may have together. 32 768 by default, as in AgentScope 2.0.11.
    fn context_size(&self) -> u64 {
        32_768
    }

    /// The media types that messages to this model may hold, with `*` as a wildcard (`image/*`). Any by default. What
    /// a user sends of another type is replaced by a text that names it.
    fn input_media_types(&self) -> &[&str] {
        &["*"]
    }

    /// An estimate of the tokens of a request: by default [`estimate_tokens`].
    fn count_tokens(&self, messages: &[Arc<Msg>], tools: &[ToolSchema]) -> u64 {
        estimate_tokens(messages, tools)
    }

    /// Answers a request. Chunks go out as they come; dropping the future ends the request.
    ///
    /// # Errors
    /// A [`ModelError`](crate::ModelError) (as [`Error`](crate::Error)) when the request fails, at any time.
    fn call(&self, request: ModelRequest, out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>>;
}

/// Asks a model without an agent and returns the whole response.
///
/// # Errors
/// What the model returns.
pub async fn generate(model: &dyn ChatModel, request: ModelRequest) -> Result<ChatResponse> {
    let (tap, fold) = Tap::folding(|fold: &mut ResponseFold, chunk: &ChatChunk| fold.add(chunk));
    let out = ModelOutlet::new(Outlet::unheard(Some(tap)), Reported::default());
    let mut response = model.call(request, out.clone()).await?;
    out.complete(&mut response);
    if response.content.is_streamed() {
        response.content.put(fold.take().into_blocks(), true);
    }
    Ok(response)
}
