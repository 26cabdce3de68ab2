//! Choosing without a chat model.

use std::{fmt, future::Future, sync::Arc};

use cepa_core::{BoxError, BoxFuture};

use super::ChatModelCandidate;

/// Chooses one of several candidates: a small model, a service, or rules.
///
/// An `async` function or closure from [`ChoiceQuestion`] to `Result<Option<String>, BoxError>` is one.
pub trait Classifier: Send + Sync + 'static {
    /// The name of the candidate that fits best; `None` for the agent's own model.
    ///
    /// The layer waits no longer than its deadline; the future is dropped then.
    ///
    /// # Errors
    /// Whatever keeps it from choosing. The agent's own model answers then.
    fn classify(&self, question: ChoiceQuestion) -> BoxFuture<'_, Result<Option<String>, BoxError>>;
}

impl<F, Answer> Classifier for F
where
    F: Fn(ChoiceQuestion) -> Answer + Send + Sync + 'static,
    Answer: Future<Output = Result<Option<String>, BoxError>> + Send + 'static,
{
    fn classify(&self, question: ChoiceQuestion) -> BoxFuture<'_, Result<Option<String>, BoxError>> {
        Box::pin(self(question))
    }
}

/// What a [`Classifier`] is asked. Cheap to clone.
#[derive(Clone)]
pub struct ChoiceQuestion {
    text: Arc<str>,
    instructions: Arc<str>,
    candidates: Arc<[ChatModelCandidate]>,
}

impl ChoiceQuestion {
    pub(super) fn new(text: Arc<str>, instructions: Arc<str>, candidates: Arc<[ChatModelCandidate]>) -> Self {
        Self { text, instructions, candidates }
    }

    /// What the user asks for; the middle of a long text is left out.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What is to be chosen, in words.
    pub fn instructions(&self) -> &str {
        &self.instructions
    }

    /// The names to choose from, each with when it should be chosen, in the order in which they were given.
    pub fn criteria(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.candidates.iter().map(|candidate| (candidate.name(), candidate.description()))
    }
}

impl fmt::Debug for ChoiceQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What the user says is not for logs.
        f.debug_struct("ChoiceQuestion").field("candidates", &self.candidates).finish_non_exhaustive()
    }
}
