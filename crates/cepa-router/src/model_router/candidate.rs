//! A model that may be chosen.

use std::{fmt, sync::Arc};

use cepa_core::{ChatModel, IntoShared};

/// A named chat model, and what it is for.
#[derive(Clone)]
pub struct ChatModelCandidate {
    name: String,
    model: Arc<dyn ChatModel>,
    description: String,
}

impl ChatModelCandidate {
    /// A model under the name by which it is chosen. `description` says when it should be: the router reads it.
    pub fn new(
        name: impl Into<String>,
        model: impl IntoShared<dyn ChatModel>,
        description: impl Into<String>,
    ) -> Self {
        Self { name: name.into(), model: model.into_shared(), description: description.into() }
    }

    /// The name by which it is chosen. It is kept with the session, so it should not change.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The model.
    pub fn model(&self) -> &Arc<dyn ChatModel> {
        &self.model
    }

    /// When it should be chosen.
    pub fn description(&self) -> &str {
        &self.description
    }
}

impl fmt::Debug for ChatModelCandidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatModelCandidate")
            .field("name", &self.name)
            .field("model", &self.model.name())
            .finish_non_exhaustive()
    }
}
