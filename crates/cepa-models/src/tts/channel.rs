//! The ways into and out of a speech session.

use std::fmt;

use tokio::sync::mpsc::{Receiver, Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel};

use super::AudioChunk;

/// How many pieces of audio may wait for their reader. Little, so that an interrupt leaves little unheard.
const WAITING: usize = 8;

/// The pieces of a text that is spoken, as they come.
pub struct TtsText(UnboundedReceiver<String>);

/// Where the pieces of a text are put. Dropping it ends the text.
#[derive(Clone)]
pub struct TtsTextSender(UnboundedSender<String>);

/// A text that is still written: its pieces go into the sender.
pub fn tts_text() -> (TtsTextSender, TtsText) {
    let (sender, receiver) = unbounded_channel();
    (TtsTextSender(sender), TtsText(receiver))
}

impl TtsText {
    /// A text that is whole.
    pub fn whole(text: impl Into<String>) -> Self {
        let (sender, receiver) = tts_text();
        sender.push(text);
        receiver
    }

    /// The next piece; `None` at the end of the text. Cancel-safe.
    pub async fn next(&mut self) -> Option<String> {
        self.0.recv().await
    }
}

impl TtsTextSender {
    /// Adds a piece. It never waits: text is not held back by speech. Whether the text is still spoken.
    pub fn push(&self, text: impl Into<String>) -> bool {
        self.0.send(text.into()).is_ok()
    }
}

/// Where a session puts audio.
#[derive(Clone)]
pub struct TtsAudio(Sender<AudioChunk>);

/// The audio that a session puts out, as it comes.
pub struct TtsAudioChunks(Receiver<AudioChunk>);

/// A way for audio: what a session puts into the first comes out of the second.
pub fn tts_audio() -> (TtsAudio, TtsAudioChunks) {
    let (sender, receiver) = channel(WAITING);
    (TtsAudio(sender), TtsAudioChunks(receiver))
}

impl TtsAudioChunks {
    /// The next piece; `None` when the session has put its way out down. Cancel-safe.
    pub async fn next(&mut self) -> Option<AudioChunk> {
        self.0.recv().await
    }
}

impl TtsAudio {
    /// Puts a piece out, and waits while its reader is behind. Whether anybody still listens.
    pub async fn send(&self, chunk: AudioChunk) -> bool {
        self.0.send(chunk).await.is_ok()
    }
}

impl fmt::Debug for TtsText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TtsText")
    }
}

impl fmt::Debug for TtsTextSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TtsTextSender")
    }
}

impl fmt::Debug for TtsAudioChunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TtsAudioChunks")
    }
}

impl fmt::Debug for TtsAudio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TtsAudio")
    }
}
