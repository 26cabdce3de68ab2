//! What the code that `#[tool]` writes refers to. No part of the interface: it changes without notice.

mod answer;
mod arguments;
mod blocking;

pub use schemars;
pub use serde;
pub use serde_json;

pub use self::{answer::Answer, arguments::Arguments, blocking::run_blocking};
pub use crate::{
    chain::BoxFuture,
    permission::{PermissionBehavior, PermissionContext, PermissionDecision},
    tool::{Tool, ToolCx, ToolError, ToolResponse},
};

/// The word of a tool that always says the same.
pub fn decide<'a>(tool: &str, behavior: PermissionBehavior) -> BoxFuture<'a, PermissionDecision> {
    let reason = match behavior {
        PermissionBehavior::Allow => format!("Tool `{tool}` needs no permission."),
        PermissionBehavior::Deny => format!("Tool `{tool}` is not permitted to run."),
        _ => format!("Tool `{tool}` runs only when a person allows it."),
    };
    Box::pin(std::future::ready(PermissionDecision::new(behavior, reason)))
}
