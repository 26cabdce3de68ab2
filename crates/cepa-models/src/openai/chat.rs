//! The chat model.

use std::sync::Arc;

use cepa_core::{
    BoxFuture, ChatModel, ChatResponse, ModelError, ModelOptions, ModelOutlet, ModelRequest, Result,
};

use super::{OpenAiChatBuilder, messages::Style, reading::Sink};
use crate::{ConfigError, endpoint::Endpoint};

/// A chat model over any OpenAI-compatible API: OpenAI, DashScope, DeepSeek, Moonshot, vLLM, Ollama, llama.cpp, ….
///
/// It streams text, thinking (`reasoning_content` or `reasoning`) and tool calls, understands servers that take the
/// API's rules lightly, tries again what may go away by itself, and gives each failure as a
/// [`ModelError`] in the server's own words. No key occurs in its `Debug`, in logs or in errors.
/// The metadata of an answer have `finish_reason` and `server_model` as the server says them, and `resend_count` where
/// the request was sent more than once.
///
/// ```no_run
/// use cepa_core::{ModelRequest, Msg, Result, generate};
/// use cepa_models::OpenAiChat;
///
/// # async fn run() -> Result<()> {
/// let model = OpenAiChat::builder("qwen3:8b").base_url("http://localhost:11434/v1").build()?;
/// let response = generate(&model, ModelRequest::new([Msg::user("user", "Why do onions make us cry?")])).await?;
/// println!("{}", response.text());
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct OpenAiChat {
    pub(super) model: Arc<str>,
    pub(super) endpoint: Endpoint,
    pub(super) options: ModelOptions,
    pub(super) context_size: u64,
    pub(super) stream: bool,
    pub(super) include_usage: bool,
    pub(super) style: Style,
}

impl OpenAiChat {
    /// A builder for the model that the server knows by this name.
    pub fn builder(model: impl Into<Arc<str>>) -> OpenAiChatBuilder {
        OpenAiChatBuilder::new(model.into())
    }

    /// This model with the key in `OPENAI_API_KEY`, at `OPENAI_BASE_URL` if that is set, else at OpenAI.
    ///
    /// # Errors
    /// When there is no key and OpenAI itself is asked, or when what is set cannot be used.
    pub fn from_env(model: impl Into<Arc<str>>) -> Result<Self, ConfigError> {
        Self::builder(model).or_env().build()
    }

    async fn ask(&self, request: ModelRequest, out: ModelOutlet) -> Result<ChatResponse, ModelError> {
        let body = self.body(&request)?;
        let taken = || request.messages.iter().flat_map(|msg| msg.tool_calls()).map(|call| call.id.clone());
        let (mut patience, mut retries) = (self.endpoint.patience(), self.endpoint.retries());
        loop {
            let mut sink = Sink::new(&out);
            match self.attempt(body.clone(), taken(), &mut patience, &mut sink).await {
                Ok(mut response) => {
                    let resends = retries.resends();
                    if resends > 0 {
                        response.metadata.insert("resend_count", resends);
                    }
                    return Ok(response);
                }
                Err(error) if sink.sent => return Err(error),
                Err(error) => retries.wait(error, &mut patience).await?,
            }
        }
    }
}

impl ChatModel for OpenAiChat {
    fn name(&self) -> &str {
        &self.model
    }

    fn provider(&self) -> &str {
        super::provider::provider(self.endpoint.host())
    }

    fn default_options(&self) -> Option<&ModelOptions> {
        Some(&self.options)
    }

    fn context_size(&self) -> u64 {
        self.context_size
    }

    fn input_media_types(&self) -> &[&str] {
        &self.style.media_types
    }

    fn call(&self, request: ModelRequest, out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
        Box::pin(async move { Ok(self.ask(request, out).await?) })
    }
}
