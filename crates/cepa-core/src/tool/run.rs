//! Running one tool inside its own onion.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Entry, Tool, ToolCallInput, ToolChunk, ToolCx, ToolResponse, ToolScope};
use crate::{
    chain::{Acting, BoxFuture, Core, Frame, Next, Outlet, Running, ToolCalling},
    error::Result,
    message::ToolResultState,
    texts,
};

/// Runs a tool with checked arguments, as part of this call of an agent if there is one; its items go to `out`.
pub(crate) fn run_tool(
    entry: &Entry,
    input: Map<String, Value>,
    of: Option<Arc<Frame<Acting>>>,
    out: Outlet<ToolChunk>,
) -> Running<ToolCalling> {
    let scope = ToolScope { tool: entry.tool.clone(), call: of };
    let frame = Frame::new(scope, Arc::new(Middle(entry.tool.clone())), entry.layers.clone());
    Next::root(frame, out).run(ToolCallInput::new(input))
}

/// The tool as the middle of its onion.
struct Middle(Arc<dyn Tool>);

impl Core<ToolCalling> for Middle {
    fn run(self: Arc<Self>, cx: ToolCx, input: ToolCallInput) -> BoxFuture<'static, Result<ToolResponse>> {
        Box::pin(async move {
            let call = self.0.clone().call(input.input, cx.clone());
            let result = match &cx.scope().call {
                None => call.await,
                Some(of) => tokio::select! {
                    biased;
                    () = of.interrupted() => {
                        cx.emit(ToolChunk::text(texts::TOOL_INTERRUPTED)).await;
                        return Ok(ToolResponse::streamed().with_state(ToolResultState::Interrupted));
                    }
                    result = call => result,
                },
            };
            match result {
                Ok(response) => Ok(response),
                Err(error) if error.is_for_developer() => Err(error.into_error(self.0.name())),
                // A tool's failure is a result for the model. What it streamed before stays.
                Err(error) => {
                    cx.emit(ToolChunk::text(error.to_string())).await;
                    Ok(ToolResponse::streamed().with_state(ToolResultState::Error))
                }
            }
        })
    }
}
