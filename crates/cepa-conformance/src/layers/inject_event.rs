//! Adds an event of its own.

use std::sync::Arc;

use cepa_core::{
    AgentEvent, BoxFuture, Cx, EventKind, Hook, Msg, Next, Reasoning, ReasoningInput, Reply, ReplyInput,
    Result, chain::Streams,
};
use serde_json::{Map, Value};

use super::{behaviour::Behaviour, options::Options, step::Step};
use crate::error::RunError;

/// Sends a `CUSTOM` event after each event of a type.
pub(super) struct InjectEvent {
    after: String,
    name: String,
    value: Map<String, Value>,
}

impl InjectEvent {
    pub(super) fn new(options: &Options<'_>) -> Result<Self, RunError> {
        Ok(Self {
            after: options.or_default("after")?,
            name: options.or_default("name")?,
            value: options.or_default("value")?,
        })
    }

    fn event(&self) -> AgentEvent {
        EventKind::Custom { name: self.name.as_str().into(), value: self.value.clone().into() }.into()
    }

    async fn pass_on<H: Streams + Hook<Item = AgentEvent>>(
        self: Arc<Self>,
        cx: Cx<H>,
        input: H::Input,
        next: Next<H>,
    ) -> Result<H::Output> {
        let mut events = next.stream(input);
        while let Some(event) = events.next().await {
            let is_the_one = event.event_type() == self.after;
            cx.emit(event).await;
            if is_the_one {
                cx.emit(self.event()).await;
            }
        }
        events.finish().await
    }
}

impl Behaviour for InjectEvent {
    fn on_reply(
        self: Arc<Self>,
        _step: Step,
        cx: Cx<Reply>,
        input: ReplyInput,
        next: Next<Reply>,
    ) -> BoxFuture<'static, Result<Msg>> {
        Box::pin(self.pass_on(cx, input, next))
    }

    fn on_reasoning(
        self: Arc<Self>,
        _step: Step,
        cx: Cx<Reasoning>,
        input: ReasoningInput,
        next: Next<Reasoning>,
    ) -> BoxFuture<'static, Result<Option<Msg>>> {
        Box::pin(self.pass_on(cx, input, next))
    }
}
