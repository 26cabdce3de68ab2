//! Hooks whose items are the content and whose output is the envelope.

use super::{Acting, ModelCall, Streams, ToolCalling};
use crate::{
    model::{ChatChunk, ChatResponse, ResponseFold},
    tool::{ToolChunk, ToolFold, ToolResponse},
};

/// A hook whose items are the content and whose output is its envelope: [`ModelCall`], [`Acting`] and
/// [`ToolCalling`].
///
/// ```
/// use cepa_core::{ChatResponse, Cx, ModelCall, ModelRequest, Next, Result};
///
/// /// A hook that logs whole answers while they stream.
/// async fn log(_cx: Cx<ModelCall>, request: ModelRequest, next: Next<ModelCall>) -> Result<ChatResponse> {
///     let response = next.collect(request).await?; // only content hooks have `collect` and `hold`
///     println!("{}", response.text());
///     Ok(response)
/// }
/// # let _ = log;
/// ```
#[diagnostic::on_unimplemented(
    message = "the items of `{Self}` are events, not content: there is no whole response to collect",
    label = "use `next.run(input)`, `next.tap(input, …)` or `next.stream(input)`"
)]
pub trait Content: Streams {
    #[doc(hidden)]
    type Fold: Default + Send;
    #[doc(hidden)]
    fn fold(fold: &mut Self::Fold, item: &Self::Item);
    /// Puts what was folded into the output. `sent`: it has gone out already.
    #[doc(hidden)]
    fn put(output: &mut Self::Output, fold: Self::Fold, sent: bool);
}

impl Content for ModelCall {
    type Fold = ResponseFold;
    fn fold(fold: &mut ResponseFold, item: &ChatChunk) {
        fold.add(item);
    }
    fn put(output: &mut ChatResponse, fold: ResponseFold, sent: bool) {
        output.content.put(fold.into_blocks(), sent);
    }
}

impl Content for Acting {
    type Fold = ToolFold;
    fn fold(fold: &mut ToolFold, item: &ToolChunk) {
        fold.add(item);
    }
    fn put(output: &mut ToolResponse, fold: ToolFold, sent: bool) {
        output.content.put(fold.into_blocks(), sent);
    }
}

impl Content for ToolCalling {
    type Fold = ToolFold;
    fn fold(fold: &mut ToolFold, item: &ToolChunk) {
        fold.add(item);
    }
    fn put(output: &mut ToolResponse, fold: ToolFold, sent: bool) {
        output.content.put(fold.into_blocks(), sent);
    }
}
