//! Setting up the local voice.

use std::{
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use super::{EspeakTts, Settings};
use crate::ConfigError;

/// Sets up an [`EspeakTts`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `.build()`"]
pub struct EspeakTtsBuilder {
    program: PathBuf,
    voice: String,
    words_per_minute: u32,
    timeout: Duration,
}

impl EspeakTtsBuilder {
    pub(super) fn new() -> Self {
        Self {
            program: "espeak-ng".into(),
            voice: "en-us".into(),
            words_per_minute: 175,
            timeout: Duration::from_secs(30),
        }
    }

    /// Where the program is. `espeak-ng`, in the directories of `PATH`, by default.
    pub fn program(mut self, path: impl Into<PathBuf>) -> Self {
        self.program = path.into();
        self
    }

    /// The voice, by its language (`en-us`, `de`, `cmn` for Mandarin) or its name; `espeak-ng --voices` lists them.
    /// `en-us` by default.
    pub fn voice(mut self, voice: impl Into<String>) -> Self {
        self.voice = voice.into();
        self
    }

    /// How many words to speak in a minute: 80 to 450. 175 by default.
    pub fn words_per_minute(mut self, words: u32) -> Self {
        self.words_per_minute = words;
        self
    }

    /// How long the program may be silent while it is waited for. 30 seconds by default.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// Checks the settings and makes the model. It runs the program once, to see that it is there and has the voice.
    ///
    /// # Errors
    /// When the program cannot be run (it says how to install it), or what is wrong with the settings.
    pub fn build(self) -> Result<EspeakTts, ConfigError> {
        let wrong = |setting, reason| Err(ConfigError::OutOfRange { setting, reason });
        if self.voice.trim().is_empty() || self.voice.contains('\0') {
            return wrong("voice", "must be the name of a voice");
        }
        if !(80..=450).contains(&self.words_per_minute) {
            return wrong("words_per_minute", "must be from 80 to 450");
        }
        if self.timeout.is_zero() {
            return wrong("timeout", "must be longer than zero");
        }
        let Self { program, voice, words_per_minute, timeout } = self;
        let settings = Settings { program, voice, words_per_minute, timeout };
        let trial = Command::new(&settings.program)
            .args(settings.arguments())
            .args(["-q", ""]) // without a sound
            .stdin(Stdio::null())
            .output();
        let trial = trial.map_err(|error| no_program(&settings.program, &error))?;
        if !trial.status.success() {
            let words = String::from_utf8_lossy(&trial.stderr).trim().to_owned();
            return Err(ConfigError::BadVoice { voice: settings.voice, reason: words });
        }
        Ok(EspeakTts(Arc::new(settings)))
    }
}

/// The program cannot be run.
pub(super) fn no_program(program: &Path, error: &io::Error) -> ConfigError {
    ConfigError::NoProgram {
        program: program.display().to_string(),
        package: "espeak-ng",
        reason: error.to_string(),
    }
}
