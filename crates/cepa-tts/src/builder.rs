//! Setting speech up.

use std::{sync::Arc, time::Duration};

use cepa_models::TtsModel;

use crate::{
    deadlines::Deadlines,
    filter::SpeechFilter,
    middleware::TtsMiddleware,
    settings::{Per, Settings},
};

/// The longest text that is given to a model at once, in characters, where nothing else is set.
const MAX_LENGTH: usize = 2000;

/// Sets a [`TtsMiddleware`] up.
///
/// ```
/// use std::time::Duration;
/// use cepa_tts::{Per, SpeechFilter, TtsMiddleware};
///
/// # fn speech(model: impl cepa_models::TtsModel) -> Result<TtsMiddleware, cepa_tts::TtsError> {
/// TtsMiddleware::builder(model)
///     .per(Per::Sentence)
///     .filter(SpeechFilter::markdown())
///     .first_audio_within(Duration::from_secs(5))
///     .build()
/// # }
/// ```
#[must_use = "nothing is built until `build()`"]
#[derive(Debug)]
pub struct Builder(Settings);

/// Speech that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TtsError {
    /// Texts of no characters.
    #[error("`max_length` is 0, but must be at least 1 character")]
    NoLength,
    /// A step that may take no time.
    #[error("`{setting}` is 0, but each step of speech needs some time")]
    NoTime {
        /// The setting.
        setting: &'static str,
    },
}

impl Builder {
    pub(crate) fn new(model: impl TtsModel) -> Self {
        Self(Settings {
            model: Arc::new(model),
            per: Per::default(),
            filter: None,
            max_length: MAX_LENGTH,
            deadlines: Deadlines::default(),
        })
    }

    /// When a model that is not realtime is given text: at the end of each text block by default. A realtime one gets
    /// each piece as it comes.
    pub fn per(mut self, per: Per) -> Self {
        self.0.per = per;
        self
    }

    /// What of the text is spoken. All of it, as it is, by default.
    pub fn filter(mut self, filter: SpeechFilter) -> Self {
        self.0.filter = Some(filter);
        self
    }

    /// The longest text that a model which is not realtime is given at once, in characters: 2000 by default. Longer
    /// ones are cut, at the ends of sentences where there are some, and spoken one after the other in one audio block
    /// (in several where the model's audio does not [join](TtsModel::joins)).
    pub fn max_length(mut self, characters: usize) -> Self {
        self.0.max_length = characters;
        self
    }

    /// How long connecting may take: 10 s by default. Where there shall be no limit, [`Duration::MAX`] is none, here and
    /// for the other limits.
    pub fn connect_within(mut self, limit: Duration) -> Self {
        self.0.deadlines.connect = limit;
        self
    }

    /// How long the first audio of a text may take: 15 s by default. It counts from when the model has the whole text.
    pub fn first_audio_within(mut self, limit: Duration) -> Self {
        self.0.deadlines.first_audio = limit;
        self
    }

    /// How long the next audio of a text may take, and the end of it: 10 s by default.
    pub fn next_audio_within(mut self, limit: Duration) -> Self {
        self.0.deadlines.next_audio = limit;
        self
    }

    /// How long speaking a text block may take altogether, beyond the time in which it is written: 5 min by default.
    pub fn block_within(mut self, limit: Duration) -> Self {
        self.0.deadlines.block = limit;
        self
    }

    pub(crate) fn into_settings(self) -> Settings {
        self.0
    }

    /// Checks the settings and builds the layer.
    ///
    /// # Errors
    /// A length or a time of zero.
    pub fn build(self) -> Result<TtsMiddleware, TtsError> {
        let Self(settings) = self;
        if settings.max_length == 0 {
            return Err(TtsError::NoLength);
        }
        let deadlines = &settings.deadlines;
        for (setting, limit) in [
            ("connect_within", deadlines.connect),
            ("first_audio_within", deadlines.first_audio),
            ("next_audio_within", deadlines.next_audio),
            ("block_within", deadlines.block),
        ] {
            if limit.is_zero() {
                return Err(TtsError::NoTime { setting });
            }
        }
        Ok(TtsMiddleware::with(settings))
    }
}
