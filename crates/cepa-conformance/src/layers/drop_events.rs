//! Drops events.

use std::sync::Arc;

use cepa_core::{
    AgentEvent, BoxFuture, Cx, Flow, Msg, Next, Reasoning, ReasoningInput, Reply, ReplyInput, Result,
};

use super::{behaviour::Behaviour, options::Options, step::Step};
use crate::error::RunError;

/// Drops events of some types.
pub(super) struct DropEvents {
    types: Vec<String>,
}

impl DropEvents {
    pub(super) fn new(options: &Options<'_>) -> Result<Self, RunError> {
        Ok(Self { types: options.or_default("types")? })
    }

    fn flow(&self, event: &AgentEvent) -> Flow {
        if self.types.iter().any(|kind| kind == event.event_type()) { Flow::Drop } else { Flow::Keep }
    }
}

impl Behaviour for DropEvents {
    fn on_reply(
        self: Arc<Self>,
        _step: Step,
        _cx: Cx<Reply>,
        input: ReplyInput,
        next: Next<Reply>,
    ) -> BoxFuture<'static, Result<Msg>> {
        Box::pin(next.tap(input, move |event: &mut AgentEvent| self.flow(event)))
    }

    fn on_reasoning(
        self: Arc<Self>,
        _step: Step,
        _cx: Cx<Reasoning>,
        input: ReasoningInput,
        next: Next<Reasoning>,
    ) -> BoxFuture<'static, Result<Option<Msg>>> {
        Box::pin(next.tap(input, move |event: &mut AgentEvent| self.flow(event)))
    }
}
