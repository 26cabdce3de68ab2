//! Telling the model what changes around it: time, tasks, the length of its context, calls that keep failing.

use super::{builder::BuildError, config::InjectionConfig, emit::Events, scope::ReplyScope};
use crate::error::Result;

/// Checks what can only be used or not.
pub(super) fn check(_config: &InjectionConfig) -> Result<(), BuildError> {
    Ok(())
}

impl ReplyScope {
    pub(super) async fn inject_runtime_state(&self, _events: &Events) -> Result<()> {
        Ok(())
    }
}
