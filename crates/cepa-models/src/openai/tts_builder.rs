//! Setting up a speech model.

use std::sync::Arc;

use cepa_core::Fields;
use serde_json::Value;

use super::{OpenAiTts, SpeechFormat, tts::Speaker};
use crate::{
    ConfigError,
    endpoint::{SPEECH_IDLE, Settings, connection_setters},
};

/// Parameters that have a method of their own.
const OWN: [&str; 6] = ["model", "input", "voice", "response_format", "speed", "instructions"];

/// Sets up an [`OpenAiTts`].
///
/// ```
/// use cepa_models::{ConfigError, OpenAiTts};
///
/// let model = OpenAiTts::builder("kokoro")
///     .base_url("http://localhost:8880/v1")
///     .voice("af_heart")
///     .speed(1.1)
///     .build()?;
/// # Ok::<(), ConfigError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `.build()`"]
pub struct OpenAiTtsBuilder {
    model: Arc<str>,
    connection: Settings,
    voice: String,
    format: SpeechFormat,
    sample_rate: u32,
    speed: Option<f64>,
    instructions: Option<String>,
    extra: Fields,
}

impl OpenAiTtsBuilder {
    pub(super) fn new(model: Arc<str>) -> Self {
        Self {
            model,
            connection: Settings { idle_timeout: SPEECH_IDLE, ..Settings::default() },
            voice: "alloy".into(),
            format: SpeechFormat::default(),
            sample_rate: 24_000,
            speed: None,
            instructions: None,
            extra: Fields::new(),
        }
    }

    connection_setters!(
        "OpenAI's own (`https://api.openai.com/v1`)",
        "the key (`OPENAI_API_KEY`) and the base URL (`OPENAI_BASE_URL`)",
        "30 seconds"
    );

    /// The voice. `alloy` by default.
    pub fn voice(mut self, voice: impl Into<String>) -> Self {
        self.voice = voice.into();
        self
    }

    /// The audio's format. [PCM](SpeechFormat::Pcm) by default.
    pub fn format(mut self, format: SpeechFormat) -> Self {
        self.format = format;
        self
    }

    /// How many samples of PCM the server gives in a second; the media type tells it to the listener. 24 000 by
    /// default, as OpenAI does. It does not ask the server for another.
    pub fn sample_rate(mut self, hertz: u32) -> Self {
        self.sample_rate = hertz;
        self
    }

    /// How fast to speak: 0.25 to 4, where 1 is the voice's own speed. Not sent by default.
    pub fn speed(mut self, speed: f64) -> Self {
        self.speed = Some(speed);
        self
    }

    /// How to speak, in words, for models that take it (`gpt-4o-mini-tts`).
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// A further parameter of each request, sent as it is.
    pub fn extra(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra.insert(name, value);
        self
    }

    /// Checks the settings and makes the model. Nothing is sent.
    ///
    /// # Errors
    /// What is wrong with the settings.
    pub fn build(self) -> Result<OpenAiTts, ConfigError> {
        let wrong = |setting, reason| Err(ConfigError::OutOfRange { setting, reason });
        if self.voice.trim().is_empty() {
            return wrong("voice", "must not be empty");
        }
        if self.speed.is_some_and(|speed| !(0.25..=4.0).contains(&speed)) {
            return wrong("speed", "must be from 0.25 to 4");
        }
        if self.sample_rate == 0 {
            return wrong("sample_rate", "must be at least 1");
        }
        if OWN.iter().any(|name| self.extra.contains_key(name)) {
            return wrong("extra", "must not hold what a method of its own sets (the voice, say)");
        }
        Ok(OpenAiTts(Arc::new(Speaker {
            endpoint: self.connection.endpoint("audio/speech", &self.model)?,
            model: self.model,
            voice: self.voice,
            format: self.format,
            sample_rate: self.sample_rate,
            speed: self.speed,
            instructions: self.instructions,
            extra: self.extra,
        })))
    }
}
