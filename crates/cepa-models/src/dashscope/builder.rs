//! Setting up a speech model of DashScope's.

use std::sync::Arc;

use cepa_core::Fields;
use serde_json::Value;

use super::{DashScopeRealtimeTts, events::SessionSettings, realtime_tts::Speaker};
use crate::{
    ConfigError,
    endpoint::{SPEECH_IDLE, Service, Settings, connection_setters},
};

/// DashScope's realtime API.
const DASHSCOPE: Service = Service {
    base_url: "wss://dashscope.aliyuncs.com/api-ws/v1",
    key_variable: "DASHSCOPE_API_KEY",
    url_variable: None,
    websocket: true,
};

/// Parameters that have a method of their own, or that only Cepa sets.
const OWN: [&str; 7] =
    ["voice", "mode", "response_format", "sample_rate", "language_type", "speech_rate", "instructions"];

/// Sets up a [`DashScopeRealtimeTts`].
///
/// ```
/// use cepa_models::{ConfigError, DashScopeRealtimeTts};
///
/// let model = DashScopeRealtimeTts::builder("qwen3-tts-flash-realtime")
///     .base_url("wss://dashscope-intl.aliyuncs.com/api-ws/v1")
///     .api_key("sk-…".replace('…', "example"))
///     .voice("Ethan")
///     .language("Chinese")
///     .build()?;
/// assert!(!format!("{model:?}").contains("example"));
/// # Ok::<(), ConfigError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `.build()`"]
pub struct DashScopeRealtimeTtsBuilder {
    model: Arc<str>,
    connection: Settings,
    voice: String,
    sample_rate: u32,
    language: Option<String>,
    speed: Option<f64>,
    instructions: Option<String>,
    extra: Fields,
}

impl DashScopeRealtimeTtsBuilder {
    pub(super) fn new(model: Arc<str>) -> Self {
        Self {
            model,
            connection: Settings { service: DASHSCOPE, idle_timeout: SPEECH_IDLE, ..Settings::default() },
            voice: "Cherry".into(),
            sample_rate: 24_000,
            language: None,
            speed: None,
            instructions: None,
            extra: Fields::new(),
        }
    }

    connection_setters!(
        "DashScope's in China (`wss://dashscope.aliyuncs.com/api-ws/v1`)",
        "the key (`DASHSCOPE_API_KEY`)",
        "30 seconds, from the end of a text on,"
    );

    /// The voice. `Cherry` by default, as in AgentScope 2.0.11.
    pub fn voice(mut self, voice: impl Into<String>) -> Self {
        self.voice = voice.into();
        self
    }

    /// How many samples of PCM the server is asked for in a second: 8 000 to 48 000. 24 000 by default.
    pub fn sample_rate(mut self, hertz: u32) -> Self {
        self.sample_rate = hertz;
        self
    }

    /// The language of the texts (`language_type`: `Chinese`, `English`, …). The server finds it out by default.
    pub fn language(mut self, language: impl Into<String>) -> Self {
        self.language = Some(language.into());
        self
    }

    /// How fast to speak (`speech_rate`): 0.5 to 2, where 1 is the voice's own speed. Not sent by default.
    pub fn speed(mut self, speed: f64) -> Self {
        self.speed = Some(speed);
        self
    }

    /// How to speak, in words, for models that take it.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// A further parameter of each session (`volume`, `pitch_rate`, …), sent as it is.
    pub fn extra(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra.insert(name, value);
        self
    }

    /// The most bytes of one message of the server. 8 MiB by default.
    pub fn max_event_bytes(mut self, limit: usize) -> Self {
        self.connection.max_event_bytes = limit;
        self
    }

    /// Checks the settings and makes the model. Nothing is sent.
    ///
    /// # Errors
    /// What is wrong with the settings.
    pub fn build(self) -> Result<DashScopeRealtimeTts, ConfigError> {
        let wrong = |setting, reason| Err(ConfigError::OutOfRange { setting, reason });
        if self.voice.trim().is_empty() {
            return wrong("voice", "must not be empty");
        }
        if !(8_000..=48_000).contains(&self.sample_rate) {
            return wrong("sample_rate", "must be from 8000 to 48000");
        }
        if self.speed.is_some_and(|speed| !(0.5..=2.0).contains(&speed)) {
            return wrong("speed", "must be from 0.5 to 2");
        }
        if OWN.iter().any(|name| self.extra.contains_key(name)) {
            return wrong("extra", "must not hold what a method of its own sets (the voice, say)");
        }
        let endpoint = self.connection.endpoint("realtime", &self.model)?;
        Ok(DashScopeRealtimeTts(Arc::new(Speaker {
            endpoint: endpoint.with_query("model", &self.model),
            model: self.model,
            settings: SessionSettings {
                voice: self.voice,
                mode: "server_commit", // the server finds where a sentence ends
                response_format: "pcm",
                sample_rate: self.sample_rate,
                language_type: self.language,
                speech_rate: self.speed,
                instructions: self.instructions,
                extra: self.extra,
            },
        })))
    }
}
