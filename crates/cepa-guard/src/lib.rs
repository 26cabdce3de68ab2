//! Guards for Cepa agents: personal data, secrets, paths, arguments, audit.
//!
//! | layer | what it does |
//! |---|---|
//! | [`PiiGuard`] | takes personal data out of input, answers, arguments and results, in the stream too |
//! | [`SecretScrub`] | the same for keys, tokens and passwords |
//! | [`ToolOutputLimit`] | cuts what a tool says too much |
//! | [`ArgumentGuard`] | holds the arguments of tool calls to rules |
//! | [`PathGuard`] | keeps the paths among them within folders |
//! | [`AuditLog`] | writes down who called what, with what result |
#![forbid(unsafe_code)]

mod argument;
mod audit;
mod judge;
mod output_limit;
mod path;
mod pii;
mod protect;
mod screen;
mod secrets;

pub use self::{
    argument::{ArgumentGuard, ArgumentGuardBuilder, ArgumentRule, RuleError},
    audit::{AuditError, AuditLog, AuditLogBuilder, Fsync, OnFailure, Verified},
    judge::{CallRefused, OnViolation},
    output_limit::{AtLimit, FullOutput, OutputLimitError, ToolOutputLimit, ToolOutputLimitBuilder},
    path::{Access, PathError, PathGuard, PathGuardBuilder},
    pii::{PiiGuard, PiiGuardBuilder},
    screen::{Action, Cleaned, OnBlock, Pii, PiiBlocked, ScreenError},
    secrets::{SecretScrub, SecretScrubBuilder},
};
