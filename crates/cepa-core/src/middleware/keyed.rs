//! A layer under another key.

use std::{borrow::Cow, sync::Arc};

use super::{
    CompressInput, HookSet, Middleware, MiddlewareKey, OrderRule, PermissionRequest, ReasoningInput,
    ReplyInput,
};
use crate::{
    chain::{
        Acting, BoxFuture, CheckPermission, Compress, Cx, ModelCall, Next, Reasoning, Reply, SystemPrompt,
    },
    error::Result,
    message::Msg,
    model::{ChatResponse, ModelRequest},
    permission::PermissionDecision,
    tool::{ActingInput, Tool, ToolResponse},
};

/// A layer whose state is kept under another key. Made by [`MiddlewareExt::keyed`].
pub struct Keyed<M> {
    inner: Arc<M>,
    key: MiddlewareKey,
}

/// What every layer can do.
///
/// ```
/// use cepa_core::{Middleware, MiddlewareExt, on_reply};
///
/// let soft = on_reply(|_cx, input, next| next.run(input)).keyed("soft");
/// let hard = on_reply(|_cx, input, next| next.run(input)).keyed("hard");
/// assert_ne!(soft.key(), hard.key()); // both may stand in one agent
/// ```
pub trait MiddlewareExt: Middleware + Sized {
    /// Keeps the layer's state under this key, so that two instances of one type can stand in one agent.
    ///
    /// ```
    /// use cepa_core::{Middleware, MiddlewareExt, on_reply};
    ///
    /// let layer = on_reply(|_cx, input, next| next.run(input)).keyed("outer");
    /// assert_eq!(layer.key().unwrap().to_string(), "outer");
    /// ```
    fn keyed(self, key: impl Into<MiddlewareKey>) -> Keyed<Self> {
        Keyed { inner: Arc::new(self), key: key.into() }
    }
}

impl<M: Middleware> MiddlewareExt for M {}

impl<M: Middleware> std::fmt::Debug for Keyed<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keyed").field("layer", &self.inner.name()).field("key", &self.key).finish()
    }
}

macro_rules! delegate {
    ($($method:ident($hook:ident, $input:ty $(, $next:ident)?) -> $output:ty;)*) => {$(
        fn $method(
            self: Arc<Self>,
            cx: Cx<$hook>,
            input: $input
            $(, $next: Next<$hook>)?
        ) -> BoxFuture<'static, Result<$output>> {
            self.inner.clone().$method(cx, input $(, $next)?)
        }
    )*};
}

impl<M: Middleware> Middleware for Keyed<M> {
    fn hooks(&self) -> HookSet {
        self.inner.hooks()
    }

    fn name(&self) -> Cow<'static, str> {
        self.inner.name()
    }

    fn key(&self) -> Option<MiddlewareKey> {
        Some(self.key.clone())
    }

    fn order(&self) -> &'static [OrderRule] {
        self.inner.order()
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.inner.tools()
    }

    delegate! {
        on_reply(Reply, ReplyInput, next) -> Msg;
        on_reasoning(Reasoning, ReasoningInput, next) -> Option<Msg>;
        on_model_call(ModelCall, ModelRequest, next) -> ChatResponse;
        on_check_permission(CheckPermission, PermissionRequest, next) -> PermissionDecision;
        on_acting(Acting, ActingInput, next) -> ToolResponse;
        on_compress_context(Compress, CompressInput, next) -> ();
        on_system_prompt(SystemPrompt, String) -> String;
    }
}
