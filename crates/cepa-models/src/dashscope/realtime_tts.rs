//! The speech model that speaks while text comes.

use std::{fmt, sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use cepa_core::{BoxFuture, ErrorType, ModelError, Result};
use serde_json::{Value, json};

use super::{
    DashScopeRealtimeTtsBuilder,
    events::{Heard, Say, SessionSettings},
};
use crate::{
    ConfigError, TtsAudio, TtsModel, TtsSession, TtsText,
    endpoint::{Endpoint, Patience, ServerError, Socket},
    tts::{Cutter, text::is_blank},
};

/// A speech model over DashScope's realtime API (`qwen3-tts-flash-realtime` and its like), as AgentScope 2.0.11's
/// `DashScopeRealtimeTTSModel`: text goes in while it is written, PCM comes out while it is spoken.
///
/// Each text has a connection of its own, because the end of the connection's session is the only word by which the
/// server tells that a text is spoken to its end. So a text that is dropped in the middle leaves nothing behind for
/// the next one. The first connection opens with the session, the further ones with the first words of their text.
/// A connection that fails before any audio came is opened again, and told the text from its beginning. No key
/// occurs in its `Debug`, in logs or in errors.
///
/// ```no_run
/// use cepa_models::{DashScopeRealtimeTts, TtsModel, TtsText, tts_audio};
///
/// # async fn run() -> cepa_core::Result<()> {
/// let model = DashScopeRealtimeTts::from_env("qwen3-tts-flash-realtime")?;
/// let mut session = model.connect().await?;
/// let (audio, mut chunks) = tts_audio();
/// let speaking = session.speak(TtsText::whole("An onion has layers."), audio);
/// let listening = async {
///     while let Some(chunk) = chunks.next().await {
///         println!("{} bytes of {}", chunk.data.len(), chunk.media_type);
///     }
/// };
/// tokio::join!(speaking, listening).0?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct DashScopeRealtimeTts(pub(super) Arc<Speaker>);

/// What a model and its sessions share.
pub(super) struct Speaker {
    pub(super) model: Arc<str>,
    pub(super) endpoint: Endpoint,
    pub(super) settings: SessionSettings,
}

/// A text that is spoken.
struct Speech<'a> {
    text: &'a mut TtsText,
    audio: &'a TtsAudio,
    /// The text so far, to be told again where a connection fails.
    said: String,
    /// The text is at its end.
    ended: bool,
    /// The bytes of audio so far.
    heard: usize,
}

/// A connection, and how much it was told.
struct Line {
    socket: Socket,
    told: usize,
    cutter: Cutter,
}

/// Where a speech is after an event.
#[derive(PartialEq, Eq)]
enum Step {
    Going,
    /// All is spoken.
    Finished,
    /// Nobody listens any more.
    Unheard,
}

impl DashScopeRealtimeTts {
    /// A builder for the model that the server knows by this name.
    pub fn builder(model: impl Into<Arc<str>>) -> DashScopeRealtimeTtsBuilder {
        DashScopeRealtimeTtsBuilder::new(model.into())
    }

    /// This model with the key in `DASHSCOPE_API_KEY`.
    ///
    /// # Errors
    /// When there is no key, or when what is set cannot be used.
    pub fn from_env(model: impl Into<Arc<str>>) -> Result<Self, ConfigError> {
        Self::builder(model).or_env().build()
    }
}

impl Speaker {
    /// A connection, trying again what may go away.
    async fn connect(&self) -> Result<Line, ModelError> {
        let (mut patience, mut retries) = (self.endpoint.patience(), self.endpoint.retries());
        loop {
            match self.dial(&mut patience).await {
                Ok(line) => return Ok(line),
                Err(error) => retries.wait(error, &mut patience).await?,
            }
        }
    }

    async fn dial(&self, patience: &mut Patience) -> Result<Line, ModelError> {
        let socket = self.endpoint.open(patience).await?;
        let mut line = Line { socket, told: 0, cutter: Cutter::pcm(self.settings.sample_rate) };
        self.tell(&mut line, Say::Update { session: &self.settings }, patience).await?;
        Ok(line)
    }

    async fn tell(&self, line: &mut Line, say: Say<'_>, patience: &mut Patience) -> Result<(), ModelError> {
        let json = say.json(line.told).map_err(|error| self.endpoint.error(ErrorType::Internal, error))?;
        line.told += 1;
        self.endpoint.tell(&mut line.socket, json, patience).await
    }

    async fn speak(&self, mut line: Option<Line>, mut speech: Speech<'_>) -> Result<(), ModelError> {
        let (mut patience, mut retries) = (self.endpoint.patience(), self.endpoint.retries());
        loop {
            match self.attempt(line.take(), &mut speech, &mut patience).await {
                Ok(()) => return Ok(()),
                Err(error) if speech.heard > 0 => return Err(error),
                Err(error) => retries.wait(error, &mut patience).await?,
            }
        }
    }

    async fn attempt(
        &self,
        line: Option<Line>,
        speech: &mut Speech<'_>,
        patience: &mut Patience,
    ) -> Result<(), ModelError> {
        let mut line = match line {
            Some(line) => line,
            None => self.dial(patience).await?,
        };
        self.tell(&mut line, Say::Append { text: &speech.said }, patience).await?;
        while !speech.ended {
            // A silent server may well wait for text; how long it is silent counts from the text's end.
            let step = tokio::select! {
                piece = speech.text.next() => {
                    match piece {
                        Some(piece) if piece.is_empty() => {}
                        Some(piece) => {
                            speech.said.push_str(&piece);
                            self.tell(&mut line, Say::Append { text: &piece }, patience).await?;
                        }
                        None => speech.ended = true,
                    }
                    Step::Going
                }
                heard = self.endpoint.hear(&mut line.socket) => self.take(&heard?, &mut line.cutter, speech).await?,
            };
            match step {
                Step::Going => {}
                Step::Finished => return Err(self.wrong("the server ended the session before the text")),
                Step::Unheard => return Ok(()),
            }
        }
        self.tell(&mut line, Say::Commit, patience).await?;
        self.tell(&mut line, Say::Finish, patience).await?;
        loop {
            let heard = self.endpoint.hear_soon(&mut line.socket, patience).await?;
            match self.take(&heard, &mut line.cutter, speech).await? {
                Step::Going => {}
                Step::Finished if speech.heard == 0 && speech.said.contains(char::is_alphanumeric) => {
                    return Err(self.wrong("the server ended the session without any audio"));
                }
                Step::Finished | Step::Unheard => return Ok(()),
            }
        }
    }

    /// Takes an event of the server.
    async fn take(
        &self,
        heard: &str,
        cutter: &mut Cutter,
        speech: &mut Speech<'_>,
    ) -> Result<Step, ModelError> {
        match serde_json::from_str(heard) {
            Ok(Heard::Audio { delta }) => {
                let Ok(bytes) = STANDARD.decode(&delta) else {
                    return Err(self
                        .endpoint
                        .garbage("the server sent audio that is no base64", delta.as_bytes()));
                };
                speech.heard += bytes.len();
                if speech.heard > self.endpoint.max_body_bytes() {
                    return Err(self.endpoint.too_long());
                }
                match cutter.next(&bytes) {
                    Some(chunk) => {
                        Ok(if speech.audio.send(chunk).await { Step::Going } else { Step::Unheard })
                    }
                    None => Ok(Step::Going),
                }
            }
            Ok(Heard::Error { error }) => Err(self.failed(&error)),
            Ok(Heard::Response { response }) if response["status"] == "failed" => {
                let details = &response["status_details"];
                Err(self.failed(details.get("error").unwrap_or(details)))
            }
            Ok(Heard::Finished) => Ok(Step::Finished),
            Ok(Heard::Response { .. } | Heard::News) => Ok(Step::Going),
            Err(_) => Err(self.endpoint.garbage("the server sent what is no event", heard.as_bytes())),
        }
    }

    fn failed(&self, error: &Value) -> ModelError {
        match ServerError::from_json(&json!({ "error": error })) {
            Some(error) => self.endpoint.failed(&error),
            None => self.wrong("the server failed, and did not say why"),
        }
    }

    fn wrong(&self, what: &str) -> ModelError {
        self.endpoint.error(ErrorType::Upstream, what)
    }
}

impl fmt::Debug for DashScopeRealtimeTts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Speaker { model, endpoint, settings } = &*self.0;
        f.debug_struct("DashScopeRealtimeTts")
            .field("model", model)
            .field("endpoint", endpoint)
            .field("voice", &settings.voice)
            .finish_non_exhaustive()
    }
}

impl TtsModel for DashScopeRealtimeTts {
    fn name(&self) -> &str {
        &self.0.model
    }

    fn is_realtime(&self) -> bool {
        true
    }

    fn connect(&self) -> BoxFuture<'_, Result<Box<dyn TtsSession>>> {
        Box::pin(async move {
            let line = Some(self.0.connect().await?);
            Ok(Box::new(Session { speaker: self.0.clone(), line }) as Box<dyn TtsSession>)
        })
    }
}

struct Session {
    speaker: Arc<Speaker>,
    /// A connection that has not spoken.
    line: Option<Line>,
}

impl TtsSession for Session {
    fn speak<'a>(&'a mut self, mut text: TtsText, audio: TtsAudio) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut said = String::new();
            while is_blank(&said) {
                match text.next().await {
                    Some(piece) => said.push_str(&piece),
                    None => return Ok(()), // nothing to say, and so nothing is sent
                }
            }
            let speech = Speech { text: &mut text, audio: &audio, said, ended: false, heard: 0 };
            Ok(self.speaker.speak(self.line.take(), speech).await?)
        })
    }

    fn close(self: Box<Self>, limit: Duration) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            if let Some(mut line) = self.line {
                // Whether the server hears it or not: the connection goes.
                let _ = tokio::time::timeout(limit, line.socket.close(None)).await;
            }
        })
    }
}
