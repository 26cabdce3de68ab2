//! [`FinishedReason`].

use crate::wire::names;

/// How a model call ended (AgentScope 2.0.11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FinishedReason {
    /// Somebody stopped it.
    Interrupted,
    /// The model was done.
    #[default]
    Completed,
}

names!(FinishedReason, "a reason why a model call finished", {
    Interrupted = "interrupted",
    Completed = "completed",
});
