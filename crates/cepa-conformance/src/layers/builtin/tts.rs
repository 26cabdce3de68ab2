//! Speech, by a model that says what the case says.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use cepa_core::{BoxFuture, Error, ErrorType, ModelError, Result};
use cepa_models::{AudioChunk, TtsAudio, TtsModel, TtsSession, TtsText};
use cepa_tts::TtsMiddleware;
use serde_json::{Value, json};

use super::{super::options::Options, BuiltinLayer};
use crate::{case::LayerSpec, error::RunError, log::Log, world::World};

pub(super) fn build(spec: &LayerSpec, world: &World) -> Result<Box<dyn BuiltinLayer>, RunError> {
    let options = Options::new(spec);
    let voice = FakeVoice(Arc::new(Script {
        realtime: options.or_default("realtime")?,
        push: Mutex::new(options.or_default("push")?),
        synthesize: Mutex::new(options.or_default("synthesize")?),
        log: world.log.clone(),
    }));
    Ok(Box::new(Arc::new(TtsMiddleware::new(voice))))
}

#[derive(Clone, Debug)]
struct FakeVoice(Arc<Script>);

#[derive(Debug)]
struct Script {
    realtime: bool,
    /// The answer to each piece of text.
    push: Mutex<VecDeque<Value>>,
    /// The answer to each text, or to the end of each.
    synthesize: Mutex<VecDeque<Value>>,
    log: Log,
}

impl Script {
    fn answer(answers: &Mutex<VecDeque<Value>>) -> Value {
        answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front().unwrap_or_default()
    }

    /// Only a realtime model has a connection.
    fn note_connection(&self, op: &str) {
        if self.realtime {
            self.log.backend(json!({"backend": "tts", "op": op}));
        }
    }

    async fn push(&self, text: &str, audio: &TtsAudio) -> Result<()> {
        self.log.backend(json!({"backend": "tts", "op": "push", "text": text}));
        say(&Self::answer(&self.push), audio).await
    }

    async fn synthesize(&self, text: Option<&str>, audio: &TtsAudio) -> Result<()> {
        self.log.backend(json!({"backend": "tts", "op": "synthesize", "text": text}));
        say(&Self::answer(&self.synthesize), audio).await
    }
}

/// Audio in base64, a list of it, nothing, or a failure.
async fn say(answer: &Value, audio: &TtsAudio) -> Result<()> {
    let pieces = answer.as_array().map_or(std::slice::from_ref(answer), Vec::as_slice);
    for piece in pieces {
        if let Some(message) = piece.get("raise") {
            let message = message.as_str().or_else(|| message["message"].as_str()).unwrap_or_default();
            return Err(ModelError::new(ErrorType::Unknown, message).into());
        }
        if let Some(data) = piece.as_str() {
            let data = STANDARD.decode(data).map_err(Error::other)?;
            audio.send(AudioChunk::new("audio/pcm", data)).await;
        }
    }
    Ok(())
}

impl TtsModel for FakeVoice {
    fn name(&self) -> &str {
        "fake"
    }

    fn is_realtime(&self) -> bool {
        self.0.realtime
    }

    fn connect(&self) -> BoxFuture<'_, Result<Box<dyn TtsSession>>> {
        self.0.note_connection("connect");
        let session = FakeSession(self.0.clone());
        Box::pin(async { Ok(Box::new(session) as Box<dyn TtsSession>) })
    }
}

struct FakeSession(Arc<Script>);

impl TtsSession for FakeSession {
    fn speak<'a>(&'a mut self, mut text: TtsText, audio: TtsAudio) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if self.0.realtime {
                while let Some(piece) = text.next().await {
                    self.0.push(&piece, &audio).await?;
                }
                return self.0.synthesize(None, &audio).await;
            }
            let mut whole = String::new();
            while let Some(piece) = text.next().await {
                whole += &piece;
            }
            self.0.synthesize(Some(&whole), &audio).await
        })
    }
}

impl Drop for FakeSession {
    fn drop(&mut self) {
        self.0.note_connection("close");
    }
}
