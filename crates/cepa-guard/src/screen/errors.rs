//! Errors: what guards say, and cleaning what others say.

use std::{error::Error as _, sync::Arc};

use cepa_core::{Error, ErrorKind, ModelError, Result};

use super::{Cleaner, Found};

/// A value was found that ends the reply: see [`Action::Block`](crate::Action::Block).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place} holds a value that is not let through: {detector}")]
#[non_exhaustive]
pub struct PiiBlocked {
    /// The detector that has found it.
    pub detector: Arc<str>,
    /// Where it was, in words: `the input`, `the model's answer`, `the tool's result`.
    pub place: &'static str,
}

/// What is left of an error whose text held something that is not let through.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Cleaned(String);

pub(crate) fn blocked(detector: Arc<str>, place: &'static str) -> Error {
    Error::other(PiiBlocked { detector, place })
}

impl Cleaner {
    /// The result, with a clean error. An error with nothing in it stays the one it is.
    pub(crate) fn clean_result<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| self.clean_error(error))
    }

    fn clean_error(&self, error: Error) -> Error {
        if self.is_clean(&error.to_string()) && self.sources_are_clean(&error) {
            return error;
        }
        let clean = |text: &str| {
            let mut text = text.to_owned();
            self.clean_escaped_in_place(&mut text, &mut Found::default());
            text
        };
        match error.kind() {
            ErrorKind::Model(model) => {
                let mut clean = ModelError::new(model.kind, clean(&model.message));
                (clean.retryable, clean.retry_after) = (model.retryable, model.retry_after);
                Error::new(clean)
            }
            ErrorKind::Tool { name, source } => {
                let source = Cleaned(clean(&source.to_string()));
                Error::new(ErrorKind::Tool { name: clean(name), source: source.into() })
            }
            kind => Error::other(Cleaned(clean(&kind.to_string()))),
        }
    }

    fn sources_are_clean(&self, error: &Error) -> bool {
        let mut source = error.source();
        for _ in 0..16 {
            let Some(inner) = source else { return true };
            if !self.is_clean(&inner.to_string()) || !self.is_clean(&format!("{inner:?}")) {
                return false;
            }
            source = inner.source();
        }
        // What lies deeper is not looked at, and so does not get out.
        source.is_none()
    }
}
