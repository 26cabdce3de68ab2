//! How a tool fails.

use std::fmt;

use crate::error::{BoxError, Error, ErrorKind};

/// How a tool fails: for the model, which gets the message as the call's result, or for the developer.
///
/// Any error becomes one by `?` and is then told to the model.
///
/// ```
/// use cepa_core::ToolError;
///
/// fn parse(text: &str) -> Result<i32, ToolError> {
///     Ok(text.parse::<i32>()?)
/// }
/// assert_eq!(parse("x").unwrap_err().to_string(), "invalid digit found in string");
/// ```
pub struct ToolError {
    source: BoxError,
    for_developer: bool,
}

impl ToolError {
    /// A failure that the model is told about, so that it can do something else.
    pub fn new(message: impl Into<String>) -> Self {
        Self { source: message.into().into(), for_developer: false }
    }

    /// A failure that the model cannot mend: a bug, a wrong set-up. The call's result says so, and the reply ends
    /// with this error.
    pub fn developer(error: impl Into<BoxError>) -> Self {
        Self { source: error.into(), for_developer: true }
    }

    /// Whether it ends the reply.
    pub fn is_for_developer(&self) -> bool {
        self.for_developer
    }

    /// The chain's error for it.
    pub(crate) fn into_error(self, tool: &str) -> Error {
        Error::new(ErrorKind::Tool { name: tool.to_owned(), source: self.source })
    }
}

impl<E: std::error::Error + Send + Sync + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self { source: Box::new(error), for_developer: false }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ToolError({self})")
    }
}
