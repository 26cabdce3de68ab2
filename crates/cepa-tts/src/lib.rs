//! Speech for Cepa agents: the reply, spoken while it is written.
//!
//! [`TtsMiddleware`] speaks with any [speech model](cepa_models::TtsModel) and sends the audio beside the text, in the
//! reply's own events. [`SpeechFilter`] says what of the text is spoken, [`RecordSpeech`] and [`WavRecorder`] write it to a
//! file.
//!
//! ```
//! use cepa_core::{Agent, AgentBuilder};
//! use cepa_tts::{Per, RecordSpeech, SpeechFilter, TtsMiddleware};
//!
//! # fn with_speech(agent: AgentBuilder, model: impl cepa_models::TtsModel) -> Result<AgentBuilder, cepa_tts::TtsError> {
//! let speech = TtsMiddleware::builder(model).per(Per::Sentence).filter(SpeechFilter::markdown()).build()?;
//! let agent = agent.middleware(RecordSpeech::to("reply.wav")).middleware(speech);
//! # Ok(agent) }
//! ```
#![forbid(unsafe_code)]

mod builder;
mod clock;
mod deadlines;
mod filter;
mod middleware;
mod panics;
mod recorder;
mod script;
mod settings;
mod speaker;
mod voice;
mod wav;

pub use self::{
    builder::{Builder, TtsError},
    filter::{SpeechFilter, TextFilter},
    middleware::TtsMiddleware,
    recorder::{RecordError, RecordSpeech, Recording, WavRecorder},
    settings::Per,
};
