//! Setting up a chat model.

use std::sync::Arc;

use cepa_core::ModelOptions;

use super::{OpenAiChat, messages::Style};
use crate::{
    ConfigError,
    endpoint::{Settings, connection_setters},
};

/// Sets up an [`OpenAiChat`].
///
/// ```
/// use std::time::Duration;
/// use cepa_models::{ConfigError, OpenAiChat};
///
/// let model = OpenAiChat::builder("deepseek-chat")
///     .base_url("https://api.deepseek.com/v1")
///     .api_key("sk-…".replace('…', "example"))
///     .context_size(128_000)
///     .timeout(Duration::from_secs(120))
///     .build()?;
/// assert!(!format!("{model:?}").contains("example"));
/// # Ok::<(), ConfigError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `.build()`"]
pub struct OpenAiChatBuilder {
    model: Arc<str>,
    connection: Settings,
    options: ModelOptions,
    context_size: u64,
    stream: bool,
    include_usage: bool,
    style: Style,
}

impl OpenAiChatBuilder {
    pub(super) fn new(model: Arc<str>) -> Self {
        Self {
            model,
            connection: Settings::default(),
            options: ModelOptions::default(),
            context_size: 32_768,
            stream: true,
            include_usage: true,
            style: Style {
                thinking: false,
                names: false,
                media_types: vec!["image/*", "audio/*", "application/pdf"],
            },
        }
    }

    connection_setters!();

    /// Parameters for all requests; those of a request go before them. OpenAI's reasoning models take no
    /// `max_tokens`: put `max_completion_tokens` into [`ModelOptions::extra`] for them.
    pub fn options(mut self, options: ModelOptions) -> Self {
        self.options = options;
        self
    }

    /// How many tokens a request and its answer may have together. 32 768 by default, as in AgentScope 2.0.11.
    pub fn context_size(mut self, tokens: u64) -> Self {
        self.context_size = tokens;
        self
    }

    /// Whether the answer is streamed. It is by default.
    pub fn stream(mut self, stream: bool) -> Self {
        self.stream = stream;
        self
    }

    /// Whether a stream is asked to tell its usage (`stream_options.include_usage`). It is by default; turn it off
    /// for a server that refuses the parameter.
    pub fn include_usage(mut self, include: bool) -> Self {
        self.include_usage = include;
        self
    }

    /// Whether the thinking of earlier rounds is sent back as `reasoning_content`. It is not by default; some
    /// models (Moonshot's and DeepSeek's thinking ones, with tools) want it.
    pub fn send_thinking(mut self, send: bool) -> Self {
        self.style.thinking = send;
        self
    }

    /// Whether the messages' names are sent, where they are names to the API (letters, digits, `_` and `-`). They
    /// are not by default, because not every server knows the field.
    pub fn send_names(mut self, send: bool) -> Self {
        self.style.names = send;
        self
    }

    /// The media types that the model takes, with `*` as a wildcard: `image/*`, `audio/*` and `application/pdf` by
    /// default, as in AgentScope 2.0.11. In place of other data the model gets a line that says so.
    pub fn input_media_types(mut self, types: impl IntoIterator<Item = &'static str>) -> Self {
        self.style.media_types = types.into_iter().collect();
        self
    }

    /// The most bytes of one event of a stream. 8 MiB by default.
    pub fn max_event_bytes(mut self, limit: usize) -> Self {
        self.connection.max_event_bytes = limit;
        self
    }

    /// Checks the settings and makes the model. Nothing is sent.
    ///
    /// # Errors
    /// What is wrong with the settings.
    pub fn build(self) -> Result<OpenAiChat, ConfigError> {
        if self.context_size == 0 {
            return Err(ConfigError::OutOfRange { setting: "context_size", reason: "must be at least 1" });
        }
        Ok(OpenAiChat {
            endpoint: self.connection.endpoint("chat/completions", &self.model)?,
            model: self.model,
            options: self.options,
            context_size: self.context_size,
            stream: self.stream,
            include_usage: self.include_usage,
            style: self.style,
        })
    }
}
