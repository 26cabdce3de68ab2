//! What a test layer does inside of its trace.

use std::sync::Arc;

use cepa_core::{
    Acting, ActingInput, BoxFuture, ChatResponse, CheckPermission, Compress, CompressInput, Cx, ModelCall,
    ModelRequest, Msg, Next, PermissionDecision, PermissionRequest, Reasoning, ReasoningInput, Reply,
    ReplyInput, Result, ToolResponse,
};

use super::step::Step;

macro_rules! passes_on {
    ($($method:ident: $hook:ident, $input:ty => $output:ty;)*) => {
        /// What a test layer does: it passes everything on unless it says otherwise.
        pub(super) trait Behaviour: Send + Sync + 'static {
            $(fn $method(
                self: Arc<Self>,
                step: Step,
                cx: Cx<$hook>,
                input: $input,
                next: Next<$hook>,
            ) -> BoxFuture<'static, Result<$output>> {
                let _ = (step, cx);
                Box::pin(next.run(input))
            })*

            /// The prompt that goes on. `nth`: how often this layer was asked before.
            fn on_system_prompt(&self, prompt: String, nth: usize) -> Result<String> {
                let _ = nth;
                Ok(prompt)
            }

            /// Whether the layer keeps something in the state, under its label.
            fn keeps_state(&self) -> bool {
                false
            }
        }
    };
}

passes_on! {
    on_reply: Reply, ReplyInput => Msg;
    on_reasoning: Reasoning, ReasoningInput => Option<Msg>;
    on_model_call: ModelCall, ModelRequest => ChatResponse;
    on_check_permission: CheckPermission, PermissionRequest => PermissionDecision;
    on_acting: Acting, ActingInput => ToolResponse;
    on_compress_context: Compress, CompressInput => ();
}

/// Passes through and writes the trace.
pub(super) struct Recorder;

impl Behaviour for Recorder {}
