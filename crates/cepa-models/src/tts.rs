//! Speech models: the traits, the text that goes in and the audio that comes out.

mod channel;
#[cfg(any(feature = "openai", feature = "espeak"))]
mod samples;
#[cfg(any(feature = "openai", feature = "espeak"))]
pub(crate) mod text;

use std::{fmt, sync::Arc, time::Duration};

use cepa_core::{BoxFuture, Result};

pub use self::channel::{TtsAudio, TtsAudioChunks, TtsText, TtsTextSender, tts_audio, tts_text};
#[cfg(any(feature = "openai", feature = "espeak"))]
pub(crate) use self::samples::Cutter;

/// A model that turns text into speech (AgentScope 2.0.11's `TTSModelBase`).
///
/// ```
/// use cepa_core::{BoxFuture, Result};
/// use cepa_models::{AudioChunk, TtsAudio, TtsModel, TtsSession, TtsText, synthesize};
///
/// /// Beeps once for each word.
/// #[derive(Debug)]
/// struct Beeper;
///
/// impl TtsModel for Beeper {
///     fn name(&self) -> &str {
///         "beeper"
///     }
///
///     fn connect(&self) -> BoxFuture<'_, Result<Box<dyn TtsSession>>> {
///         Box::pin(async { Ok(Box::new(Beep) as Box<dyn TtsSession>) })
///     }
/// }
///
/// struct Beep;
///
/// impl TtsSession for Beep {
///     fn speak<'a>(&'a mut self, mut text: TtsText, audio: TtsAudio) -> BoxFuture<'a, Result<()>> {
///         Box::pin(async move {
///             while let Some(text) = text.next().await {
///                 for _ in text.split_whitespace() {
///                     audio.send(AudioChunk::pcm(8_000, [0, 64, 0, 192])).await;
///                 }
///             }
///             Ok(())
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let audio = synthesize(&Beeper, "three short words").await?;
/// assert_eq!(audio.len(), 3);
/// # Ok(()) }
/// ```
pub trait TtsModel: fmt::Debug + Send + Sync + 'static {
    /// The model's name, as the server knows it.
    fn name(&self) -> &str;

    /// Whether it speaks while text still comes, piece by piece. A model that does not (the default) is given whole
    /// texts or whole sentences, and speaks one after the other.
    fn is_realtime(&self) -> bool {
        false
    }

    /// Whether the audio of one text may follow that of another one in the same data: so it is with PCM, MP3, AAC, and
    /// with WAV, of which one is made then. A model whose audio does not join (FLAC, Ogg) says so, and each text that it
    /// is given becomes audio of its own.
    fn joins(&self) -> bool {
        true
    }

    /// Opens a session, for one reply: no two replies ever share one.
    ///
    /// # Errors
    /// A [`ModelError`](cepa_core::ModelError) (as [`Error`](cepa_core::Error)) when the server is not reached or
    /// refuses.
    fn connect(&self) -> BoxFuture<'_, Result<Box<dyn TtsSession>>>;
}

impl<M: TtsModel + ?Sized> TtsModel for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn is_realtime(&self) -> bool {
        (**self).is_realtime()
    }

    fn joins(&self) -> bool {
        (**self).joins()
    }

    fn connect(&self) -> BoxFuture<'_, Result<Box<dyn TtsSession>>> {
        (**self).connect()
    }
}

/// A conversation with a speech model, for one reply. Dropping it hangs up.
pub trait TtsSession: Send + 'static {
    /// Speaks one text, which may still be written: its pieces come from `text`, and the audio goes out as it comes.
    /// Returns when all of it is spoken. Dropping the future stops it at once.
    ///
    /// # Errors
    /// A [`ModelError`](cepa_core::ModelError) (as [`Error`](cepa_core::Error)) when the synthesis fails, at any time.
    fn speak<'a>(&'a mut self, text: TtsText, audio: TtsAudio) -> BoxFuture<'a, Result<()>>;

    /// Ends the session in good order, within `limit`. Nothing is done by default.
    fn close(self: Box<Self>, limit: Duration) -> BoxFuture<'static, ()> {
        let _ = limit;
        Box::pin(std::future::ready(()))
    }
}

/// A piece of audio.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AudioChunk {
    /// What it is, with the sample rate where the data does not tell it: `audio/pcm;rate=24000`, `audio/wav`,
    /// `audio/mpeg`, ….
    pub media_type: Arc<str>,
    /// The bytes. Those of all pieces of one text, joined, are the whole.
    pub data: Vec<u8>,
}

impl AudioChunk {
    /// Some bytes of this media type.
    pub fn new(media_type: impl Into<Arc<str>>, data: impl Into<Vec<u8>>) -> Self {
        Self { media_type: media_type.into(), data: data.into() }
    }

    /// PCM: signed samples of 16 bits, little-endian, of one channel, so many in a second.
    pub fn pcm(sample_rate: u32, data: impl Into<Vec<u8>>) -> Self {
        Self::new(format!("audio/pcm;rate={sample_rate}"), data)
    }
}

/// Speaks a text without an agent, and returns the audio when it is whole.
///
/// # Errors
/// What the model returns.
pub async fn synthesize(model: &dyn TtsModel, text: impl Into<String>) -> Result<Vec<AudioChunk>> {
    let mut session = model.connect().await?;
    let (audio, mut chunks) = tts_audio();
    let mut gathered = Vec::new();
    {
        let mut speaking = session.speak(TtsText::whole(text), audio);
        let mut spoken = None;
        loop {
            tokio::select! {
                biased;
                chunk = chunks.next() => match chunk {
                    Some(chunk) => gathered.push(chunk),
                    None => break,
                },
                result = &mut speaking, if spoken.is_none() => spoken = Some(result),
            }
        }
        match spoken {
            Some(result) => result?,
            None => speaking.await?,
        }
    }
    session.close(CLOSE_LIMIT).await;
    Ok(gathered)
}

/// How long a session may take to end.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);
