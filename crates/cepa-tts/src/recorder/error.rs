//! Why audio cannot be written.

use std::path::PathBuf;

/// Why what a reply said cannot be written to a WAV file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// Audio that is neither PCM nor WAV.
    #[error(
        "audio of type `{media_type}` cannot be written as WAV: have the speech model answer with `audio/pcm;rate=…` or `audio/wav`"
    )]
    MediaType {
        /// What it is.
        media_type: String,
    },
    /// PCM of which nobody knows how fast to play it.
    #[error("the media type `{media_type}` does not tell the sample rate, as in `audio/pcm;rate=24000`")]
    NoSampleRate {
        /// What it is.
        media_type: String,
    },
    /// WAV that cannot be read, or has other samples than integers of 16 bits.
    #[error("the audio is {what}: have the speech model answer with WAV of 16-bit integers, or with PCM")]
    Wav {
        /// What it is.
        what: String,
    },
    /// One reply, two formats.
    #[error("the audio of one reply has two formats, {first} and then {then}: one file can have one only")]
    Formats {
        /// The one of what came first.
        first: String,
        /// The one of what came later.
        then: String,
    },
    /// Data that is no base64.
    #[error("the audio's data is not base64: {0}")]
    Base64(#[source] base64::DecodeError),
    /// Data that is not in the events.
    #[error("the audio is at {url}, not in the events: it is not fetched")]
    Elsewhere {
        /// Where it is.
        url: String,
    },
    /// A file that cannot be gone on with.
    #[error("{path} cannot be gone on with: {source}", path = .path.display())]
    GoOn {
        /// The file.
        path: PathBuf,
        /// Why: it cannot be read, or is no WAV of 16 bits.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A file that cannot be written.
    #[error("{path} cannot be written: {source}; its folder must exist and be writable", path = .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: hound::Error,
    },
}
