//! Errors of a case, and the kinds by which errors are compared.

use cepa_core::{Error, ErrorKind};
use serde_json::{Value, json};

use crate::case::LayerSpec;

/// Why a case could not be run at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The case needs something that this runner does not have.
    #[error("not supported: {0}")]
    NotSupported(String),
    /// Something in the case cannot be read.
    #[error("{what}: {source}")]
    Malformed {
        /// What cannot be read.
        what: String,
        /// Why.
        source: serde_json::Error,
    },
    /// A built-in layer cannot be built.
    #[error("layer {kind} cannot be built: {reason}")]
    Layer {
        /// The layer's kind.
        kind: String,
        /// Why it cannot be built.
        reason: String,
    },
    /// The agent cannot be built.
    #[error("the agent cannot be built: {0}")]
    Build(#[from] cepa_core::agent::BuildError),
    /// The state cannot be looked at.
    #[error("the state: {0}")]
    Locked(#[from] Error),
    /// The state cannot be written or read.
    #[error("the state: {0}")]
    State(serde_json::Error),
}

impl RunError {
    pub(crate) fn not_supported(what: impl Into<String>) -> Self {
        Self::NotSupported(what.into())
    }

    pub(crate) fn layer<E: std::fmt::Display>(spec: &LayerSpec) -> impl FnOnce(E) -> Self {
        move |error| Self::Layer { kind: spec.kind.clone(), reason: error.to_string() }
    }

    pub(crate) fn malformed(what: impl Into<String>) -> impl FnOnce(serde_json::Error) -> Self {
        move |source| Self::Malformed { what: what.into(), source }
    }
}

/// An error that the case asked for.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Scripted(pub(crate) String);

/// An error as it is recorded: its kind and its message.
pub(crate) fn recorded(error: &Error) -> Value {
    json!({"kind": kind(error), "message": error.to_string()})
}

/// The kind, in the words of the case files: those of Cepa's own names, but for errors that the case asked for.
pub(crate) fn kind(error: &Error) -> String {
    let is_scripted = error.downcast_ref::<Scripted>().is_some();
    match error.kind() {
        ErrorKind::Model(_) => "scripted".to_owned(),
        ErrorKind::Tool { .. } | ErrorKind::Other(_) if is_scripted => "scripted".to_owned(),
        ErrorKind::Tools(_) => "tool_exception_group".to_owned(),
        other => snake_case(&variant_name(other)),
    }
}

/// `SystemPromptExceedsThreshold { … }` is named `SystemPromptExceedsThreshold`.
fn variant_name(kind: &ErrorKind) -> String {
    format!("{kind:?}").chars().take_while(char::is_ascii_alphanumeric).collect()
}

fn snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use cepa_core::{ErrorType, ModelError};

    use super::*;

    #[test]
    fn kinds_are_those_of_the_case_files() {
        let cases = [
            (ErrorKind::NotWaitingForConfirmation, "not_waiting_for_confirmation"),
            (ErrorKind::AgentIsWaiting { confirmations: 1, external: 0 }, "agent_is_waiting"),
            (ErrorKind::UnknownConfirmIds(Vec::new()), "unknown_confirm_ids"),
            (ErrorKind::ReplyEndSwallowedTwice, "reply_end_swallowed_twice"),
            (ErrorKind::Tools(Vec::new()), "tool_exception_group"),
            (ErrorKind::Model(ModelError::new(ErrorType::Unknown, "boom")), "scripted"),
        ];
        for (error, expected) in cases {
            assert_eq!(kind(&Error::new(error)), expected);
        }
        assert_eq!(kind(&Error::other(Scripted("boom".to_owned()))), "scripted");
        assert_eq!(kind(&Error::other("something else")), "other");
    }
}
