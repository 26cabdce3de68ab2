//! Layers that let everything through, each in another way.

use std::hint::black_box;

use cepa_core::{
    Acting, ActingInput, ChatResponse, CheckPermission, Compress, CompressInput, Cx, Middleware,
    MiddlewareKey, ModelCall, ModelRequest, Msg, Next, PermissionDecision, PermissionRequest, Reasoning,
    ReasoningInput, Reply, ReplyInput, Result, SystemPrompt, ToolResponse, middleware,
};

/// Does not look at the events.
pub(super) struct Run;

#[middleware]
impl Middleware for Run {
    fn key(&self) -> Option<MiddlewareKey> {
        None
    }

    async fn on_reply(&self, _cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        next.run(input).await
    }
}

/// Looks at each event in place, with a shared closure.
pub(super) struct TapShared;

#[middleware]
impl Middleware for TapShared {
    fn key(&self) -> Option<MiddlewareKey> {
        None
    }

    async fn on_reply(&self, _cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        next.tap_shared(input, |event| {
            black_box(&event.kind);
        })
        .await
    }
}

/// Looks at each event in place.
pub(super) struct Tap;

#[middleware]
impl Middleware for Tap {
    fn key(&self) -> Option<MiddlewareKey> {
        None
    }

    async fn on_reply(&self, _cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        let mut count = 0_u64;
        let msg = next
            .tap(input, |event| {
                black_box(&event.kind);
                count += 1;
            })
            .await?;
        black_box(count);
        Ok(msg)
    }
}

/// Takes each event and sends it on.
pub(super) struct Stream;

#[middleware]
impl Middleware for Stream {
    fn key(&self) -> Option<MiddlewareKey> {
        None
    }

    async fn on_reply(&self, cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        let mut events = next.stream(input);
        while let Some(event) = events.next().await {
            cx.emit(event).await;
        }
        events.finish().await
    }
}

/// Stands around everything.
pub(crate) struct AllHooks;

#[middleware]
impl Middleware for AllHooks {
    fn key(&self) -> Option<MiddlewareKey> {
        None
    }

    async fn on_reply(&self, _cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        next.run(input).await
    }

    async fn on_reasoning(
        &self,
        _cx: Cx<Reasoning>,
        input: ReasoningInput,
        next: Next<Reasoning>,
    ) -> Result<Option<Msg>> {
        next.run(input).await
    }

    async fn on_model_call(
        &self,
        _cx: Cx<ModelCall>,
        request: ModelRequest,
        next: Next<ModelCall>,
    ) -> Result<ChatResponse> {
        next.run(request).await
    }

    async fn on_check_permission(
        &self,
        _cx: Cx<CheckPermission>,
        request: PermissionRequest,
        next: Next<CheckPermission>,
    ) -> Result<PermissionDecision> {
        next.run(request).await
    }

    async fn on_acting(
        &self,
        _cx: Cx<Acting>,
        input: ActingInput,
        next: Next<Acting>,
    ) -> Result<ToolResponse> {
        next.run(input).await
    }

    async fn on_compress_context(
        &self,
        _cx: Cx<Compress>,
        input: CompressInput,
        next: Next<Compress>,
    ) -> Result<()> {
        next.run(input).await
    }

    async fn on_system_prompt(&self, _cx: Cx<SystemPrompt>, prompt: String) -> Result<String> {
        Ok(prompt)
    }
}
