//! The speech model.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use cepa_core::{BoxFuture, ErrorType, Fields, ModelError, Result};
use reqwest::{Response, header::CONTENT_TYPE};
use serde::Serialize;

use super::{OpenAiTtsBuilder, SpeechFormat};
use crate::{
    ConfigError, TtsAudio, TtsModel, TtsSession, TtsText,
    endpoint::{Endpoint, Patience, ServerError},
    tts::text::Sentences,
};

/// A speech model over any OpenAI-compatible API (`/audio/speech`): OpenAI, vLLM, Kokoro-FastAPI, LocalAI, ….
///
/// Each piece of a text (a whole text or a sentence) is one request, and the audio goes out as it comes. The formats
/// that begin with a header (WAV, Opus in Ogg, FLAC) cannot be joined as they are: for them a whole text is one request.
/// PCM, the default, begins soonest. No key occurs in its `Debug`, in logs or in errors.
///
/// ```no_run
/// use cepa_models::{OpenAiTts, SpeechFormat, synthesize};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let model = OpenAiTts::builder("gpt-4o-mini-tts").voice("coral").format(SpeechFormat::Mp3).or_env().build()?;
/// let audio = synthesize(&model, "An onion has layers.").await?;
/// std::fs::write("onion.mp3", audio.into_iter().flat_map(|chunk| chunk.data).collect::<Vec<_>>())?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct OpenAiTts(pub(super) Arc<Speaker>);

/// What a model and its sessions share.
pub(super) struct Speaker {
    pub(super) model: Arc<str>,
    pub(super) endpoint: Endpoint,
    pub(super) voice: String,
    pub(super) format: SpeechFormat,
    pub(super) sample_rate: u32,
    pub(super) speed: Option<f64>,
    pub(super) instructions: Option<String>,
    pub(super) extra: Fields,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a str,
    voice: &'a str,
    response_format: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    speed: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    #[serde(flatten)]
    extra: &'a Fields,
}

impl OpenAiTts {
    /// A builder for the model that the server knows by this name.
    pub fn builder(model: impl Into<Arc<str>>) -> OpenAiTtsBuilder {
        OpenAiTtsBuilder::new(model.into())
    }

    /// This model with the key in `OPENAI_API_KEY`, at `OPENAI_BASE_URL` if that is set, else at OpenAI.
    ///
    /// # Errors
    /// When there is no key and OpenAI itself is asked, or when what is set cannot be used.
    pub fn from_env(model: impl Into<Arc<str>>) -> Result<Self, ConfigError> {
        Self::builder(model).or_env().build()
    }
}

impl Speaker {
    /// Speaks this much in one answer. Whether anybody still listens.
    async fn say(&self, text: &str, audio: &TtsAudio) -> Result<bool, ModelError> {
        let body = Body {
            model: &self.model,
            input: text,
            voice: &self.voice,
            response_format: self.format.name(),
            speed: self.speed,
            instructions: self.instructions.as_deref(),
            extra: &self.extra,
        };
        let body =
            serde_json::to_vec(&body).map_err(|error| self.endpoint.error(ErrorType::Internal, error))?;
        let body = Bytes::from(body);
        let (mut patience, mut retries) = (self.endpoint.patience(), self.endpoint.retries());
        loop {
            let mut heard = false;
            match self.attempt(body.clone(), audio, &mut patience, &mut heard).await {
                Ok(listening) => return Ok(listening),
                Err(error) if heard => return Err(error),
                Err(error) => retries.wait(error, &mut patience).await?,
            }
        }
    }

    async fn attempt(
        &self,
        body: Bytes,
        audio: &TtsAudio,
        patience: &mut Patience,
        heard: &mut bool,
    ) -> Result<bool, ModelError> {
        let mut response = self.endpoint.post(body, patience).await?;
        if is_text(&response) {
            return Err(self.no_audio(&self.endpoint.body(&mut response, patience).await?));
        }
        let mut cutter = self.format.cutter(self.sample_rate);
        let mut length = 0;
        while let Some(bytes) = self.endpoint.chunk(&mut response, patience).await? {
            length += bytes.len();
            if length > self.endpoint.max_body_bytes() {
                return Err(self.endpoint.too_long());
            }
            if let Some(chunk) = cutter.next(&bytes) {
                *heard = true;
                if !audio.send(chunk).await {
                    return Ok(false);
                }
            }
        }
        if *heard { Ok(true) } else { Err(self.no_audio(&[])) }
    }

    /// Some servers say what went wrong in an answer of success; played, it would be noise.
    fn no_audio(&self, body: &[u8]) -> ModelError {
        let error = serde_json::from_slice(body).ok().and_then(|json| ServerError::from_json(&json));
        match error {
            Some(error) => self.endpoint.failed(&error),
            None => self.endpoint.garbage("the server's answer holds no audio", body),
        }
    }
}

fn is_text(response: &Response) -> bool {
    let media_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    media_type.is_some_and(|value| {
        let value = value.trim_start().to_ascii_lowercase();
        value.starts_with("application/json") || value.starts_with("text/")
    })
}

impl fmt::Debug for OpenAiTts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Speaker { model, endpoint, voice, format, .. } = &*self.0;
        f.debug_struct("OpenAiTts")
            .field("model", model)
            .field("endpoint", endpoint)
            .field("voice", voice)
            .field("format", format)
            .finish_non_exhaustive()
    }
}

impl TtsModel for OpenAiTts {
    fn name(&self) -> &str {
        &self.0.model
    }

    fn joins(&self) -> bool {
        self.0.format.joins() || self.0.format == SpeechFormat::Wav
    }

    /// Nothing is sent before there is something to say.
    fn connect(&self) -> BoxFuture<'_, Result<Box<dyn TtsSession>>> {
        let session: Box<dyn TtsSession> = Box::new(Session(self.0.clone()));
        Box::pin(std::future::ready(Ok(session)))
    }
}

struct Session(Arc<Speaker>);

impl TtsSession for Session {
    fn speak<'a>(&'a mut self, text: TtsText, audio: TtsAudio) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut pieces = Sentences::new(text, self.0.format.joins());
            while let Some(piece) = pieces.next().await
                && self.0.say(&piece, &audio).await?
            {}
            Ok(())
        })
    }
}
