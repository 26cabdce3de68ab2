//! What a layer of speech is set to.

use std::sync::Arc;

use cepa_models::TtsModel;

use crate::{deadlines::Deadlines, filter::SpeechFilter};

/// When a model that is not realtime is given text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Per {
    /// A text block, when it is complete (as in AgentScope 2.0.11).
    #[default]
    Block,
    /// A sentence, as soon as it is complete: the first one is heard while the next ones are written. It is one audio
    /// block per text block all the same, but for a model whose audio does not [join](TtsModel::joins) (FLAC, Opus): there
    /// each sentence is a block.
    Sentence,
}

#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) model: Arc<dyn TtsModel>,
    pub(crate) per: Per,
    pub(crate) filter: Option<SpeechFilter>,
    pub(crate) max_length: usize,
    pub(crate) deadlines: Deadlines,
}
