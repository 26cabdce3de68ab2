//! Counts replies in the state.

use std::sync::Arc;

use cepa_core::{BoxFuture, Cx, Msg, Next, Reply, ReplyInput, Result};

use super::{behaviour::Behaviour, step::Step};

/// Counts replies in its own place of the state.
pub(super) struct Counter;

impl Behaviour for Counter {
    fn on_reply(
        self: Arc<Self>,
        _step: Step,
        cx: Cx<Reply>,
        input: ReplyInput,
        next: Next<Reply>,
    ) -> BoxFuture<'static, Result<Msg>> {
        Box::pin(async move {
            cx.my_state().update(|replies: &mut u64| *replies += 1)?;
            next.run(input).await
        })
    }

    fn keeps_state(&self) -> bool {
        true
    }
}
