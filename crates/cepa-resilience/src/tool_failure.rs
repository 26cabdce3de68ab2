//! [`ToolFailure`]: what layers around tools are told of a call that failed.

use std::borrow::Cow;

use cepa_core::{Error, ErrorKind, Fields};

use crate::timeout::is_reply_over;

/// A tool call that failed: with a result for the model, or with an error.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolFailure<'a> {
    /// The tool.
    pub tool: &'a str,
    /// What it said: the text of its result, or of its error.
    pub text: Cow<'a, str>,
    /// The data for the program that came with the result; empty for an error.
    pub metadata: &'a Fields,
    /// The error, if it failed with one: meant for the developer, or a time limit. `None` where the failure is a result
    /// for the model.
    pub error: Option<&'a Error>,
}

static NOTHING: Fields = Fields::new();

impl<'a> ToolFailure<'a> {
    pub(crate) fn of_result(tool: &'a str, text: impl Into<Cow<'a, str>>, metadata: &'a Fields) -> Self {
        Self { tool, text: text.into(), metadata, error: None }
    }

    /// The failure that this error of a call is; `None` for one that is not the tool's.
    pub(crate) fn of_error(tool: &'a str, error: &'a Error) -> Option<Self> {
        let text = match error.kind() {
            ErrorKind::Tool { source, .. } => source.to_string(),
            ErrorKind::Timeout { .. } if !is_reply_over(error) => error.kind().to_string(),
            _ => return None,
        };
        Some(Self { tool, text: text.into(), metadata: &NOTHING, error: Some(error) })
    }
}
