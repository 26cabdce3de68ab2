//! How long speech may keep a reply waiting.

use std::time::Duration;

/// How long each step of speech may take. Time in which nobody reads the reply does not count.
#[derive(Clone, Debug)]
pub(crate) struct Deadlines {
    pub(crate) connect: Duration,
    pub(crate) first_audio: Duration,
    pub(crate) next_audio: Duration,
    pub(crate) block: Duration,
    pub(crate) close: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_audio: Duration::from_secs(15),
            next_audio: Duration::from_secs(10),
            block: Duration::from_secs(300),
            close: Duration::from_secs(2),
        }
    }
}

/// Why a text block is not spoken, or not to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{0}")]
    Model(#[from] cepa_core::Error),
    #[error("no connection within {0:?}")]
    Connect(Duration),
    #[error("no audio within {0:?}")]
    FirstAudio(Duration),
    #[error("no further audio within {0:?}")]
    NextAudio(Duration),
    #[error("the text block was not spoken within {0:?}")]
    Block(Duration),
    #[error("it panicked: {0}")]
    Panic(String),
}
