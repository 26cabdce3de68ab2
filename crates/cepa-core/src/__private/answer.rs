//! What a tool's function may return.

use crate::tool::{ToolError, ToolResponse};

/// What a tool's function may return: anything that becomes a [`ToolResponse`], or a `Result` of that.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not a tool's result",
    note = "return a text, `()`, a `serde_json::Value`, a `ToolResponse`, or what has a `From` for it; or a `Result` of these",
    note = "the error of a `Result` is `ToolError` or any `std::error::Error + Send + Sync + 'static`"
)]
pub trait Answer {
    /// The result of the call.
    fn into_result(self) -> Result<ToolResponse, ToolError>;
}

#[diagnostic::do_not_recommend]
impl<T: Into<ToolResponse>> Answer for T {
    fn into_result(self) -> Result<ToolResponse, ToolError> {
        Ok(self.into())
    }
}

impl<T: Into<ToolResponse>, E: Into<ToolError>> Answer for Result<T, E> {
    fn into_result(self) -> Result<ToolResponse, ToolError> {
        self.map(Into::into).map_err(Into::into)
    }
}
