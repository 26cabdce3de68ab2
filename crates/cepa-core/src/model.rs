//! What is said to and by models.

mod finished;
mod tool_choice;
mod usage;

pub use finished::FinishedReason;
pub use tool_choice::{ToolChoice, ToolChoiceMode};
pub use usage::ChatUsage;
