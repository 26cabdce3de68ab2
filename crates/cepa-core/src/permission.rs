//! Who may call which tool: the data that rules, modes and decisions are made of.

mod context;
mod decision;
pub(crate) mod engine;
mod rule;

pub use context::{AdditionalWorkingDirectory, PermissionContext};
pub use decision::PermissionDecision;
pub use rule::{PermissionBehavior, PermissionMode, PermissionRule};
