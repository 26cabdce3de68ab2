//! Closures as layers, for one hook each.

use std::{borrow::Cow, future::Future, marker::PhantomData, sync::Arc};

use super::{HookSet, Middleware, MiddlewareKey};
use crate::{
    chain::{
        Acting, BoxFuture, CheckPermission, Compress, Cx, Hook, ModelCall, Next, Reasoning, Reply,
        SystemPrompt,
    },
    error::Result,
};

/// A layer made of a closure, for one hook. Made by [`on_reply`], [`on_model_call`] and their like.
pub struct FnLayer<H, F> {
    run: F,
    key: Option<MiddlewareKey>,
    hook: PhantomData<fn() -> H>,
}

impl<H: Hook, F> FnLayer<H, F> {
    fn new(run: F) -> Self {
        Self { run, key: None, hook: PhantomData }
    }

    /// Where the layer keeps its state. By default the hook and the layer's place in the list, `on_model_call#2`:
    /// give a key if that place may change while sessions live on.
    #[must_use]
    pub fn key(mut self, key: impl Into<MiddlewareKey>) -> Self {
        self.key = Some(key.into());
        self
    }
}

impl<H: Hook, F> std::fmt::Debug for FnLayer<H, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FnLayer").field("hook", &H::NAME).field("key", &self.key).finish_non_exhaustive()
    }
}

macro_rules! fn_layers {
    ($($hook:ident $method:ident $set:ident ($input:ident $(, $next:ident)?);)*) => {$(
        #[doc = concat!("A closure as a layer for `", stringify!($method), "`.")]
        pub fn $method<F, Fut>(run: F) -> FnLayer<$hook, F>
        where
            F: Fn(Cx<$hook>, <$hook as Hook>::Input $(, fn_layers!(@next $next $hook))?) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = Result<<$hook as Hook>::Output>> + Send + 'static,
        {
            FnLayer::new(run)
        }

        impl<F, Fut> Middleware for FnLayer<$hook, F>
        where
            F: Fn(Cx<$hook>, <$hook as Hook>::Input $(, fn_layers!(@next $next $hook))?) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = Result<<$hook as Hook>::Output>> + Send + 'static,
        {
            fn hooks(&self) -> HookSet {
                HookSet::$set
            }

            fn name(&self) -> Cow<'static, str> {
                match &self.key {
                    Some(key) => Cow::Owned(key.to_string()),
                    None => Cow::Borrowed(stringify!($method)),
                }
            }

            fn key(&self) -> Option<MiddlewareKey> {
                self.key.clone()
            }

            fn key_at(&self, position: usize) -> Option<MiddlewareKey> {
                let by_place = || MiddlewareKey::from(format!("{}#{position}", stringify!($method)));
                Some(self.key.clone().unwrap_or_else(by_place))
            }

            fn $method(
                self: Arc<Self>,
                cx: Cx<$hook>,
                $input: <$hook as Hook>::Input
                $(, $next: fn_layers!(@next $next $hook))?
            ) -> BoxFuture<'static, Result<<$hook as Hook>::Output>> {
                Box::pin((self.run)(cx, $input $(, $next)?))
            }
        }
    )*};
    (@next $next:ident $hook:ident) => { Next<$hook> };
}

fn_layers! {
    Reply on_reply REPLY (input, next);
    Reasoning on_reasoning REASONING (input, next);
    ModelCall on_model_call MODEL_CALL (request, next);
    CheckPermission on_check_permission CHECK_PERMISSION (request, next);
    Acting on_acting ACTING (input, next);
    Compress on_compress_context COMPRESS_CONTEXT (input, next);
    SystemPrompt on_system_prompt SYSTEM_PROMPT (prompt);
}
