//! A test layer as an agent takes it: its behaviour, with the trace around it.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use cepa_core::{
    Acting, ActingInput, BoxFuture, ChatResponse, CheckPermission, Compress, CompressInput, Cx, Hook,
    HookSet, Middleware, MiddlewareKey, ModelCall, ModelRequest, Msg, Next, PermissionDecision,
    PermissionRequest, Reasoning, ReasoningInput, Reply, ReplyInput, Result, SystemPrompt, ToolResponse,
};
use serde_json::json;

use super::{behaviour::Behaviour, saw::Saw, step::Step};
use crate::{case::LayerSpec, log::Log, models::json_of};

/// A behaviour with the trace around it.
pub(super) struct TracedLayer {
    label: Arc<str>,
    hooks: HookSet,
    behaviour: Arc<dyn Behaviour>,
    log: Log,
    prompts: AtomicUsize,
}

impl TracedLayer {
    pub(super) fn new(spec: &LayerSpec, hooks: HookSet, behaviour: Arc<dyn Behaviour>, log: &Log) -> Self {
        let (label, log) = (spec.label.as_str().into(), log.clone());
        Self { label, hooks, behaviour, log, prompts: AtomicUsize::new(0) }
    }

    fn enter<H: Hook<Input: Saw>>(&self, input: &H::Input) -> Step {
        Step::enter(&self.log, &self.label, H::NAME, input.saw())
    }
}

macro_rules! traced {
    ($($method:ident: $hook:ident, $input:ty => $output:ty, $exit:expr;)*) => {$(
        fn $method(
            self: Arc<Self>,
            cx: Cx<$hook>,
            input: $input,
            next: Next<$hook>,
        ) -> BoxFuture<'static, Result<$output>> {
            Box::pin(async move {
                let step = self.enter::<$hook>(&input);
                let result = self.behaviour.clone().$method(step.clone(), cx, input, next).await;
                let exit: fn(&$output) -> String = $exit;
                step.end_with(&result.as_ref().map_or_else(|_| "error".to_owned(), exit));
                result
            })
        }
    )*};
}

impl Middleware for TracedLayer {
    fn hooks(&self) -> HookSet {
        self.hooks
    }

    fn name(&self) -> Cow<'static, str> {
        Cow::Owned(self.label.to_string())
    }

    fn key(&self) -> Option<MiddlewareKey> {
        self.behaviour.keeps_state().then(|| MiddlewareKey::from(self.label.to_string()))
    }

    traced! {
        on_reply: Reply, ReplyInput => Msg, |_| "exit".to_owned();
        on_reasoning: Reasoning, ReasoningInput => Option<Msg>, |_| "exit".to_owned();
        on_model_call: ModelCall, ModelRequest => ChatResponse, |_| "exit".to_owned();
        on_check_permission: CheckPermission, PermissionRequest => PermissionDecision, |decision| {
            format!("exit {}", json_of(&decision.behavior).as_str().unwrap_or_default())
        };
        on_acting: Acting, ActingInput => ToolResponse, |_| "exit".to_owned();
        on_compress_context: Compress, CompressInput => (), |()| "exit".to_owned();
    }

    fn on_system_prompt(
        self: Arc<Self>,
        _cx: Cx<SystemPrompt>,
        prompt: String,
    ) -> BoxFuture<'static, Result<String>> {
        self.log.trace(json!({"mw": &*self.label, "hook": "on_system_prompt", "at": "enter", "saw": prompt}));
        let nth = self.prompts.fetch_add(1, Relaxed);
        Box::pin(std::future::ready(self.behaviour.on_system_prompt(prompt, nth)))
    }
}
