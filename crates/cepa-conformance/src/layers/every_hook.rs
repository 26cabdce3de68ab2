//! One way for all onion hooks.

/// Implements each onion hook of a [`Behaviour`](super::behaviour::Behaviour) by the layer's own generic method
/// `around(self, step, input, next)`.
macro_rules! every_hook {
    () => {
        every_hook! {
            on_reply: Reply, ReplyInput => Msg;
            on_reasoning: Reasoning, ReasoningInput => Option<Msg>;
            on_model_call: ModelCall, ModelRequest => ChatResponse;
            on_check_permission: CheckPermission, PermissionRequest => PermissionDecision;
            on_acting: Acting, ActingInput => ToolResponse;
            on_compress_context: Compress, CompressInput => ();
        }
    };
    ($($method:ident: $hook:ident, $input:ident => $output:ty;)*) => {$(
        fn $method(
            self: std::sync::Arc<Self>,
            step: super::step::Step,
            _cx: cepa_core::Cx<cepa_core::$hook>,
            input: cepa_core::$input,
            next: cepa_core::Next<cepa_core::$hook>,
        ) -> cepa_core::BoxFuture<'static, cepa_core::Result<$output>> {
            Box::pin(self.around(step, input, next))
        }
    )*};
}

pub(super) use every_hook;
