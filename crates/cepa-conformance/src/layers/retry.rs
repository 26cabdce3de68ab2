//! Tries again.

use std::sync::Arc;

use cepa_core::{ChatResponse, Hook, Msg, Next, PermissionDecision, Result, ToolResponse};

use super::{behaviour::Behaviour, every_hook::every_hook, options::Options, step::Step};
use crate::error::RunError;

/// Calls the rest of the chain again after an error, a few times per call of the hook.
pub(super) struct Retry {
    times: usize,
}

impl Retry {
    pub(super) fn new(options: &Options<'_>) -> Result<Self, RunError> {
        Ok(Self { times: options.get("times")?.unwrap_or(1) })
    }

    async fn around<H: Hook<Input: Clone>>(
        self: Arc<Self>,
        step: Step,
        input: H::Input,
        next: Next<H>,
    ) -> Result<H::Output> {
        for _ in 0..self.times {
            match next.clone().run(input.clone()).await {
                Ok(output) => return Ok(output),
                Err(_) => step.note("caught"),
            }
        }
        next.run(input).await.inspect_err(|_| step.end_with("caught"))
    }
}

impl Behaviour for Retry {
    every_hook!();
}
