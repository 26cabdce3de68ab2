//! The formats of speech.

use crate::tts::Cutter;

/// A format that `/audio/speech` gives audio in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SpeechFormat {
    /// Samples of 16 bits, of one channel: `audio/pcm;rate=24000`. It can be played from the first byte on.
    #[default]
    Pcm,
    /// A WAV file: `audio/wav`.
    Wav,
    /// MP3: `audio/mpeg`.
    Mp3,
    /// Opus in Ogg: `audio/ogg;codecs=opus`.
    Opus,
    /// A FLAC file: `audio/flac`.
    Flac,
    /// AAC in ADTS: `audio/aac`.
    Aac,
}

impl SpeechFormat {
    /// The name that the API knows it by.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Pcm => "pcm",
            Self::Wav => "wav",
            Self::Mp3 => "mp3",
            Self::Opus => "opus",
            Self::Flac => "flac",
            Self::Aac => "aac",
        }
    }

    /// Whether two answers, joined, are one audio. They are not where each begins with a header of its own.
    pub(super) fn joins(self) -> bool {
        matches!(self, Self::Pcm | Self::Mp3 | Self::Aac)
    }

    pub(super) fn cutter(self, sample_rate: u32) -> Cutter {
        match self {
            Self::Pcm => Cutter::pcm(sample_rate),
            Self::Wav => Cutter::anywhere("audio/wav"),
            Self::Mp3 => Cutter::anywhere("audio/mpeg"),
            Self::Opus => Cutter::anywhere("audio/ogg;codecs=opus"),
            Self::Flac => Cutter::anywhere("audio/flac"),
            Self::Aac => Cutter::anywhere("audio/aac"),
        }
    }
}
