//! Setting a router up.

use std::{collections::HashSet, fmt, sync::Arc, time::Duration};

use cepa_core::{ChatModel, IntoShared};
use serde_json::json;

use super::{ChatModelCandidate, Chooser, Classifier, ModelRouterMiddleware, prompt};
use crate::texts;

/// Sets a [`ModelRouterMiddleware`] up.
#[must_use = "nothing is built until `build()`"]
pub struct ModelRouterBuilder {
    chooser: Chooser,
    candidates: Vec<ChatModelCandidate>,
    instructions: String,
    deadline: Duration,
    text_limit: usize,
}

/// A router that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RouterError {
    /// There is nothing to choose from.
    #[error("there is no candidate: give at least one to `builder`")]
    NoCandidates,
    /// A text that the router needs is blank.
    #[error("the {what} of candidate {number} is blank: write one, it is what the choice is made by")]
    BlankCandidate {
        /// `name` or `description`.
        what: &'static str,
        /// Which candidate, from 1.
        number: usize,
    },
    /// Two candidates have one name.
    #[error("two candidates are called `{0}`: give each a name of its own")]
    DuplicateName(String),
    /// A setting that is zero or blank.
    #[error("`{0}` must not be zero or blank")]
    Empty(&'static str),
}

impl ModelRouterBuilder {
    pub(super) fn new(candidates: Vec<ChatModelCandidate>) -> Self {
        Self {
            chooser: Chooser::OwnModel,
            candidates,
            instructions: texts::ROUTER_INSTRUCTIONS.to_owned(),
            deadline: Duration::from_secs(10),
            text_limit: 8_000,
        }
    }

    /// Has this chat model choose. The agent's own by default.
    pub fn router_model(mut self, model: impl IntoShared<dyn ChatModel>) -> Self {
        self.chooser = Chooser::Model(model.into_shared());
        self
    }

    /// Has a classifier choose, or a function.
    pub fn classifier(mut self, classifier: impl Classifier) -> Self {
        self.chooser = Chooser::Classifier(Arc::new(classifier));
        self
    }

    /// What is to be chosen, in words: the beginning of the routing model's prompt.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = instructions.into();
        self
    }

    /// How long the choice may take, a second question included. 10 s by default.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// How many characters of what the user asks for are read: half of them of its beginning, half of its end. 8 000 by
    /// default.
    pub fn text_limit(mut self, characters: usize) -> Self {
        self.text_limit = characters;
        self
    }

    /// Checks the settings and builds the layer.
    ///
    /// # Errors
    /// No candidates, two of one name, and settings that are zero or blank.
    pub fn build(self) -> Result<ModelRouterMiddleware, RouterError> {
        self.check()?;
        let names: Vec<_> = self.candidates.iter().map(ChatModelCandidate::name).collect();
        let schema = json!({
            "type": "object",
            "properties": {"choice": {"type": "string", "enum": names}},
            "required": ["choice"],
            "additionalProperties": false,
        });
        Ok(ModelRouterMiddleware {
            chooser: self.chooser,
            prompt: prompt(&self.instructions, &self.candidates),
            schema,
            candidates: self.candidates.into(),
            instructions: self.instructions.into(),
            deadline: self.deadline,
            text_limit: self.text_limit,
        })
    }

    fn check(&self) -> Result<(), RouterError> {
        if self.candidates.is_empty() {
            return Err(RouterError::NoCandidates);
        }
        let mut names = HashSet::new();
        for (number, candidate) in (1..).zip(&self.candidates) {
            for (what, text) in [("name", candidate.name()), ("description", candidate.description())] {
                if text.trim().is_empty() {
                    return Err(RouterError::BlankCandidate { what, number });
                }
            }
            if !names.insert(candidate.name()) {
                return Err(RouterError::DuplicateName(candidate.name().to_owned()));
            }
        }
        match self {
            Self { deadline: Duration::ZERO, .. } => Err(RouterError::Empty("deadline")),
            Self { text_limit: 0, .. } => Err(RouterError::Empty("text_limit")),
            Self { instructions, .. } if instructions.trim().is_empty() => {
                Err(RouterError::Empty("instructions"))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for ModelRouterBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelRouterBuilder")
            .field("candidates", &self.candidates)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use cepa_core::testing::ScriptedModel;

    use super::*;

    fn candidate(name: &str, description: &str) -> ChatModelCandidate {
        ChatModelCandidate::new(name, ScriptedModel::new(["hi"]), description)
    }

    #[test]
    fn a_router_that_cannot_be_says_what_is_wrong() {
        let error = |builder: ModelRouterBuilder| builder.build().unwrap_err().to_string();
        let of = |candidates: Vec<ChatModelCandidate>| ModelRouterMiddleware::builder(candidates);
        assert_eq!(error(of(vec![])), "there is no candidate: give at least one to `builder`");
        assert_eq!(
            error(of(vec![candidate("a", "x"), candidate("a", "y")])),
            "two candidates are called `a`: give each a name of its own"
        );
        assert_eq!(
            error(of(vec![candidate("a", "x"), candidate("b", " ")])),
            "the description of candidate 2 is blank: write one, it is what the choice is made by"
        );
        let good = || of(vec![candidate("a", "x")]);
        assert_eq!(error(good().deadline(Duration::ZERO)), "`deadline` must not be zero or blank");
        assert_eq!(error(good().text_limit(0)), "`text_limit` must not be zero or blank");
        assert_eq!(error(good().instructions("")), "`instructions` must not be zero or blank");
        assert!(good().build().is_ok());
    }
}
