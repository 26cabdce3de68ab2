//! Who may call which tool: the data that rules, modes and decisions are made of.

mod context;
mod decision;
pub(crate) mod engine;
mod matching;
mod rule;
mod working;

pub use context::{AdditionalWorkingDirectory, PermissionContext};
pub use decision::PermissionDecision;
pub use matching::RuleMatch;
pub use rule::{PermissionBehavior, PermissionMode, PermissionRule};
pub use working::is_within_working_directories;
