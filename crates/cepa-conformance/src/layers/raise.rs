//! Fails.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use cepa_core::{ChatResponse, Error, Hook, Msg, Next, PermissionDecision, Result, ToolResponse};

use super::{behaviour::Behaviour, every_hook::every_hook, options::Options, step::Step};
use crate::error::{RunError, Scripted};

/// Fails when it is entered or left, always or the first few times.
pub(super) struct Raise {
    message: String,
    on_exit: bool,
    left: AtomicUsize,
}

impl Raise {
    pub(super) fn new(options: &Options<'_>) -> Result<Self, RunError> {
        Ok(Self {
            message: options.get("message")?.unwrap_or_else(|| "boom".to_owned()),
            on_exit: options.get::<String>("when")?.as_deref() == Some("exit"),
            left: AtomicUsize::new(options.get("times")?.unwrap_or(usize::MAX)),
        })
    }

    /// The error, if it is time for one.
    fn error(&self) -> Option<Error> {
        self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).ok()?;
        Some(Error::other(Scripted(self.message.clone())))
    }

    async fn around<H: Hook>(
        self: Arc<Self>,
        step: Step,
        input: H::Input,
        next: Next<H>,
    ) -> Result<H::Output> {
        if !self.on_exit
            && let Some(error) = self.error()
        {
            step.end_silently();
            return Err(error);
        }
        let output = next.run(input).await?;
        match self.on_exit.then(|| self.error()).flatten() {
            Some(error) => {
                step.end_silently();
                Err(error)
            }
            None => Ok(output),
        }
    }
}

impl Behaviour for Raise {
    every_hook!();

    fn on_system_prompt(&self, prompt: String, _nth: usize) -> Result<String> {
        self.error().map_or(Ok(prompt), Err)
    }
}
