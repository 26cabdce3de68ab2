//! Speech by a program of this machine.

mod builder;
mod wav;

use std::{ffi::OsString, io, path::PathBuf, process::Stdio, sync::Arc, time::Duration};

use cepa_core::{BoxFuture, ErrorType, ModelError, Result};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::{Child, Command},
    time::timeout,
};

pub use self::builder::EspeakTtsBuilder;
use crate::{
    ConfigError, TtsAudio, TtsModel, TtsSession, TtsText,
    tts::{Cutter, text::Sentences},
};

/// A local voice: [eSpeak NG](https://github.com/espeak-ng/espeak-ng), a small program that needs no key, no network
/// and no download, and speaks over a hundred languages. It sounds like a machine.
///
/// Each piece of a text (a whole text or a sentence) is one run of the program, which is killed when nobody waits for
/// it any more. The text is read out as it is: no markup in it is a command. It runs in a Tokio runtime with I/O
/// enabled.
///
/// ```no_run
/// use cepa_models::{EspeakTts, synthesize};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let model = EspeakTts::builder().voice("cmn").build()?;
/// let audio = synthesize(&model, "你好，世界。").await?;
/// assert_eq!(&*audio[0].media_type, "audio/pcm;rate=22050");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct EspeakTts(Arc<Settings>);

#[derive(Debug)]
struct Settings {
    program: PathBuf,
    voice: String,
    words_per_minute: u32,
    timeout: Duration,
}

impl EspeakTts {
    /// The voice `en-us`.
    ///
    /// # Errors
    /// When the program cannot be run: it says how to install it.
    pub fn new() -> Result<Self, ConfigError> {
        Self::builder().build()
    }

    /// A builder, for another voice.
    pub fn builder() -> EspeakTtsBuilder {
        EspeakTtsBuilder::new()
    }
}

impl Settings {
    /// The arguments that say how to speak.
    fn arguments(&self) -> [OsString; 4] {
        ["-v", &self.voice, "-s", &self.words_per_minute.to_string()].map(OsString::from)
    }

    /// Speaks this much. Whether anybody still listens.
    async fn say(&self, text: &str, audio: &TtsAudio) -> Result<bool, ModelError> {
        let child = Command::new(&self.program)
            .args(self.arguments())
            .args(["-b", "1", "--stdin", "--stdout"]) // UTF-8
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn();
        let mut child = child.map_err(|error| {
            let no_program = builder::no_program(&self.program, &error);
            ModelError::new(ErrorType::Setup, no_program.to_string()).with_source(error)
        })?;
        let ended_early = match self.stream(&mut child, text, audio).await {
            Ok(true) => false,
            Ok(false) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => true,
            Err(error) => return Err(self.failed(&error.to_string()).with_source(error)),
        };
        let mut words = Vec::new();
        if let Some(stderr) = child.stderr.take() {
            let _ = self.wait(stderr.take(MOST_WORDS).read_to_end(&mut words)).await;
        }
        let status = self.wait(child.wait()).await.map_err(|error| self.failed(&error.to_string()))?;
        if status.success() && !ended_early {
            return Ok(true);
        }
        Err(match String::from_utf8_lossy(&words).trim() {
            "" => self.failed(&format!("it ended early, with {status}")),
            words => self.failed(words),
        })
    }

    async fn stream(&self, child: &mut Child, text: &str, audio: &TtsAudio) -> io::Result<bool> {
        let (Some(mut stdin), Some(mut stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("it has no standard input and output"));
        };
        // It reads the whole text before it speaks. One that ends before says on its standard error why.
        match self.wait(stdin.write_all(plain(text).as_bytes())).await {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
            _ => drop(stdin),
        }
        let mut cutter = Cutter::pcm(self.wait(wav::sample_rate(&mut stdout)).await?);
        let mut buffer = [0; PIECE];
        loop {
            let length = self.wait(fill(&mut stdout, &mut buffer)).await?;
            let Some(chunk) = cutter.next(&buffer[..length]) else { return Ok(true) };
            if !audio.send(chunk).await {
                return Ok(false);
            }
        }
    }

    /// Waits for the program, but not too long.
    async fn wait<T>(&self, program: impl Future<Output = io::Result<T>>) -> io::Result<T> {
        let silent = || format!("it did nothing for {:?} (`timeout`)", self.timeout);
        let waited = timeout(self.timeout, program).await;
        waited.unwrap_or_else(|_| Err(io::Error::new(io::ErrorKind::TimedOut, silent())))
    }

    fn failed(&self, what: &str) -> ModelError {
        let program = self.program.display();
        let mut error = ModelError::new(ErrorType::Upstream, format!("`{program}` cannot speak: {what}"));
        error.retryable = false;
        error
    }
}

/// How many bytes of audio go out at once: a fifth of a second.
const PIECE: usize = 8192;
/// How many bytes of the program's words are told.
const MOST_WORDS: u64 = 1024;

/// Reads until the buffer is full or the program is at its end.
async fn fill(stdout: &mut (impl AsyncRead + Unpin), buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match stdout.read(&mut buffer[length..]).await? {
            0 => break,
            read => length += read,
        }
    }
    Ok(length)
}

/// The text without what the program takes for a command: control characters (U+0001 begins one), and `[[`, which
/// begins phonemes.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '[' && plain.ends_with('[') {
            plain.push(' ');
        }
        plain.push(if c.is_control() && c != '\n' { ' ' } else { c });
    }
    plain
}

impl TtsModel for EspeakTts {
    fn name(&self) -> &str {
        "espeak-ng"
    }

    fn connect(&self) -> BoxFuture<'_, Result<Box<dyn TtsSession>>> {
        let session: Box<dyn TtsSession> = Box::new(Session(self.0.clone()));
        Box::pin(std::future::ready(Ok(session)))
    }
}

struct Session(Arc<Settings>);

impl TtsSession for Session {
    fn speak<'a>(&'a mut self, text: TtsText, audio: TtsAudio) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut pieces = Sentences::new(text, true);
            while let Some(piece) = pieces.next().await
                && self.0.say(&piece, &audio).await?
            {}
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn text_is_no_command() {
        assert_eq!(plain("a\0b\u{1}c\td\ne"), "a b c d\ne");
        assert_eq!(plain("[[[h@loU]]] [1]"), "[ [ [h@loU]]] [1]");
        assert_eq!(plain("你好 <b>"), "你好 <b>");
    }
}
