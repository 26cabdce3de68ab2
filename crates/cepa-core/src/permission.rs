//! Who may call which tool: the data that rules, modes and decisions are made of.

mod context;
mod decision;
mod rule;

pub use context::{AdditionalWorkingDirectory, PermissionContext};
pub use decision::PermissionDecision;
pub use rule::{PermissionBehavior, PermissionMode, PermissionRule};
