//! The onion around one tool.

use std::{borrow::Cow, future::Future, sync::Arc};

use super::{ToolCallInput, ToolResponse};
use crate::{
    chain::{BoxFuture, Cx, Next, ToolCalling},
    error::Result,
    middleware::short_type_name,
};

/// A layer around one tool, or around each tool of a group: there also when a tool is called without an agent.
///
/// ```
/// use cepa_core::{Cx, Next, Result, ToolCallInput, ToolCalling, ToolMiddleware, ToolResponse, middleware};
///
/// struct Shout;
///
/// #[middleware]
/// impl ToolMiddleware for Shout {
///     async fn on_tool_call(
///         &self,
///         _cx: Cx<ToolCalling>,
///         input: ToolCallInput,
///         next: Next<ToolCalling>,
///     ) -> Result<ToolResponse> {
///         let response = next.hold(input).await?;
///         Ok(ToolResponse::text(response.output_text().to_uppercase()))
///     }
/// }
/// ```
pub trait ToolMiddleware: Send + Sync + 'static {
    /// What the layer is called in errors.
    fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(short_type_name::<Self>())
    }

    /// Wraps one run of the tool.
    fn on_tool_call(
        self: Arc<Self>,
        cx: Cx<ToolCalling>,
        input: ToolCallInput,
        next: Next<ToolCalling>,
    ) -> BoxFuture<'static, Result<ToolResponse>>;
}

/// A closure as a layer around a tool.
pub fn on_tool_call<F, Fut>(run: F) -> impl ToolMiddleware
where
    F: Fn(Cx<ToolCalling>, ToolCallInput, Next<ToolCalling>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<ToolResponse>> + Send + 'static,
{
    FnToolLayer(run)
}

struct FnToolLayer<F>(F);

impl<F, Fut> ToolMiddleware for FnToolLayer<F>
where
    F: Fn(Cx<ToolCalling>, ToolCallInput, Next<ToolCalling>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<ToolResponse>> + Send + 'static,
{
    fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed("on_tool_call")
    }

    fn on_tool_call(
        self: Arc<Self>,
        cx: Cx<ToolCalling>,
        input: ToolCallInput,
        next: Next<ToolCalling>,
    ) -> BoxFuture<'static, Result<ToolResponse>> {
        Box::pin((self.0)(cx, input, next))
    }
}
