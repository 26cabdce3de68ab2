//! Layers that do what the script says, one hook each.

use std::{borrow::Cow, sync::Arc, time::Duration};

use cepa_core::{
    Acting, ActingInput, AgentEvent, BoxFuture, ChatChunk, ChatResponse, CheckPermission, Compress,
    CompressInput, Cx, Error, EventKind, Flow, HookSet, Jump, Middleware, MiddlewareKey, ModelCall,
    ModelRequest, Msg, Next, PermissionDecision, PermissionRequest, Purpose, Reasoning, ReasoningInput,
    Reply, ReplyInput, Result, SystemPrompt, ToolChunk, ToolResponse,
};

use super::{
    script::{HookKind, Layer, LayerDoes},
    world::{World, busy},
};

pub(crate) struct Generated {
    pub(crate) layer: Layer,
    pub(crate) place: usize,
    pub(crate) world: Arc<World>,
}

impl Generated {
    fn does(&self) -> LayerDoes {
        if self.world.takes_part(self.place, self.layer) { self.layer.does } else { LayerDoes::Run }
    }
}

fn raised() -> Error {
    Error::other("a layer has had enough")
}

async fn hang<T>() -> T {
    std::future::pending().await
}

async fn wait() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

/// What the ways of passing on need to know of an item.
trait Item: Send + 'static {
    fn is_end(&self) -> bool {
        false
    }
    fn may_go(&self) -> bool {
        true
    }
}

impl Item for AgentEvent {
    fn is_end(&self) -> bool {
        matches!(self.kind, EventKind::ReplyEnd { .. })
    }
    fn may_go(&self) -> bool {
        matches!(self.kind, EventKind::TextBlockDelta { .. } | EventKind::ToolCallDelta { .. })
    }
}
impl Item for ChatChunk {}
impl Item for ToolChunk {}

/// The ways of passing on that are the same for all hooks with items.
macro_rules! pass {
    ($does:expr, $cx:ident, $input:ident, $next:ident, $world:ident) => {
        match $does {
            LayerDoes::Tap => {
                let mut count = 0;
                $next.tap($input, |_| count += 1).await
            }
            LayerDoes::TapShared => $next.tap_shared($input, |_| ()).await,
            LayerDoes::Stream => {
                let mut items = $next.stream($input);
                while let Some(item) = items.next().await {
                    $cx.emit(item).await;
                }
                items.finish().await
            }
            LayerDoes::ReadThenSend => {
                let (mut items, mut all) = ($next.stream($input), Vec::new());
                while let Some(item) = items.next().await {
                    all.push(item);
                }
                for item in all {
                    $cx.emit(item).await;
                }
                items.finish().await
            }
            LayerDoes::DropSome => {
                let mut count = 0;
                $next
                    .tap($input, |item| {
                        count += 1;
                        if item.may_go() && count % 2 == 0 { Flow::Drop } else { Flow::Keep }
                    })
                    .await
            }
            LayerDoes::DropAllInTap => {
                $next.tap_shared($input, |item| if item.may_go() { Flow::Drop } else { Flow::Keep }).await
            }
            LayerDoes::SwallowEnd => {
                $next.tap($input, |item| if item.is_end() { Flow::Drop } else { Flow::Keep }).await
            }
            LayerDoes::RaiseInTap => {
                let mut count = 0;
                $next
                    .tap($input, |_| {
                        count += 1;
                        if count > 2 { Err(raised()) } else { Ok(()) }
                    })
                    .await
            }
            LayerDoes::Retry => match $next.clone().run($input.clone()).await {
                Ok(output) => Ok(output),
                Err(_) => $next.run($input).await,
            },
            LayerDoes::AskModel => {
                let asked = $cx.call_model(Purpose::Routing, ModelRequest::new([Msg::user("u", "?")])).await;
                asked?;
                $next.run($input).await
            }
            other => plain!(other, $cx, $input, $next),
        }
    };
}

/// The ways of passing on that are the same for all hooks.
macro_rules! plain {
    ($does:expr, $cx:ident, $input:ident, $next:ident) => {
        match $does {
            LayerDoes::RaiseBefore => Err(raised()),
            LayerDoes::RaiseAfter => {
                $next.run($input).await?;
                Err(raised())
            }
            LayerDoes::WaitBefore => {
                wait().await;
                $next.run($input).await
            }
            LayerDoes::HangBefore => hang().await,
            LayerDoes::WaitAfter => {
                let result = $next.run($input).await;
                wait().await;
                result
            }
            LayerDoes::HangAfter => {
                let _result = $next.run($input).await;
                hang().await
            }
            LayerDoes::Note => {
                $cx.state()?.context.push(Arc::new(Msg::user("memory", "I remember")));
                $next.run($input).await
            }
            _ => $next.run($input).await,
        }
    };
}

impl Middleware for Generated {
    fn hooks(&self) -> HookSet {
        match self.layer.hook {
            HookKind::Reply => HookSet::REPLY,
            HookKind::Reasoning => HookSet::REASONING,
            HookKind::ModelCall => HookSet::MODEL_CALL,
            HookKind::CheckPermission => HookSet::CHECK_PERMISSION,
            HookKind::Acting => HookSet::ACTING,
            HookKind::Compress => HookSet::COMPRESS_CONTEXT,
            HookKind::SystemPrompt => HookSet::SYSTEM_PROMPT,
        }
    }

    fn name(&self) -> Cow<'static, str> {
        format!("{:?}{}", self.layer.does, self.place).into()
    }

    fn key(&self) -> Option<MiddlewareKey> {
        None
    }

    fn on_reply(
        self: Arc<Self>,
        cx: Cx<Reply>,
        input: ReplyInput,
        next: Next<Reply>,
    ) -> BoxFuture<'static, Result<Msg>> {
        let (does, world) = (self.does(), self.world.clone());
        Box::pin(busy(world, async move {
            match does {
                LayerDoes::Short => Ok(Msg::assistant(cx.agent_name(), "short")),
                does => pass!(does, cx, input, next, world),
            }
        }))
    }

    fn on_reasoning(
        self: Arc<Self>,
        cx: Cx<Reasoning>,
        input: ReasoningInput,
        next: Next<Reasoning>,
    ) -> BoxFuture<'static, Result<Option<Msg>>> {
        let (does, world) = (self.does(), self.world.clone());
        Box::pin(busy(world, async move {
            match does {
                LayerDoes::Short => Ok(Some(Msg::assistant(cx.agent_name(), "short"))),
                LayerDoes::JumpToEnd => {
                    let message = next.run(input).await?;
                    cx.jump(Jump::End, message)
                }
                LayerDoes::JumpToModel => {
                    let message = next.run(input).await?;
                    cx.jump(Jump::Model, message)
                }
                does => pass!(does, cx, input, next, world),
            }
        }))
    }

    fn on_model_call(
        self: Arc<Self>,
        cx: Cx<ModelCall>,
        request: ModelRequest,
        next: Next<ModelCall>,
    ) -> BoxFuture<'static, Result<ChatResponse>> {
        let (does, world) = (self.does(), self.world.clone());
        Box::pin(busy(world, async move {
            match does {
                LayerDoes::Short => Ok(ChatResponse::own_text("short")),
                LayerDoes::Collect => next.collect(request).await,
                LayerDoes::Hold => next.hold(request).await,
                does => pass!(does, cx, request, next, world),
            }
        }))
    }

    fn on_check_permission(
        self: Arc<Self>,
        cx: Cx<CheckPermission>,
        request: PermissionRequest,
        next: Next<CheckPermission>,
    ) -> BoxFuture<'static, Result<PermissionDecision>> {
        let (does, world) = (self.does(), self.world.clone());
        Box::pin(busy(world, async move {
            match does {
                LayerDoes::Short => Ok(PermissionDecision::allow("short")),
                LayerDoes::Refuse => Ok(PermissionDecision::deny("no")),
                LayerDoes::Ask => Ok(PermissionDecision::ask("really?").bypass_immune()),
                does => plain!(does, cx, request, next),
            }
        }))
    }

    fn on_acting(
        self: Arc<Self>,
        cx: Cx<Acting>,
        mut input: ActingInput,
        next: Next<Acting>,
    ) -> BoxFuture<'static, Result<ToolResponse>> {
        let (does, world) = (self.does(), self.world.clone());
        Box::pin(busy(world, async move {
            match does {
                LayerDoes::Short => Ok(ToolResponse::text("short")),
                LayerDoes::Collect => next.collect(input).await,
                LayerDoes::Hold => next.hold(input).await,
                LayerDoes::Rename => {
                    input.tool_call.name = "safe".into();
                    input.tool_call.input = r#"{"do": "ok"}"#.to_owned();
                    next.run(input).await
                }
                does => pass!(does, cx, input, next, world),
            }
        }))
    }

    fn on_compress_context(
        self: Arc<Self>,
        cx: Cx<Compress>,
        input: CompressInput,
        next: Next<Compress>,
    ) -> BoxFuture<'static, Result<()>> {
        let (does, world) = (self.does(), self.world.clone());
        Box::pin(busy(world, async move {
            match does {
                LayerDoes::Short => Ok(()),
                does => plain!(does, cx, input, next),
            }
        }))
    }

    fn on_system_prompt(
        self: Arc<Self>,
        _cx: Cx<SystemPrompt>,
        prompt: String,
    ) -> BoxFuture<'static, Result<String>> {
        let (does, world) = (self.does(), self.world.clone());
        Box::pin(busy(world, async move {
            match does {
                LayerDoes::RaiseBefore | LayerDoes::RaiseAfter => Err(raised()),
                LayerDoes::HangBefore | LayerDoes::HangAfter => hang().await,
                LayerDoes::WaitBefore | LayerDoes::WaitAfter => {
                    wait().await;
                    Ok(prompt)
                }
                LayerDoes::Note => Ok(prompt + " Be brief."),
                _ => Ok(prompt),
            }
        }))
    }
}
