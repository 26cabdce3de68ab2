//! Guards for Cepa agents: personal data, secrets, paths, arguments, audit.
//!
//! Each guard is a layer of its own: [`ArgumentGuard`] holds the arguments of tool calls to rules, [`PathGuard`] keeps
//! the paths among them within folders, [`AuditLog`] writes down who called what, with what result.
#![forbid(unsafe_code)]

mod argument;
mod audit;
mod judge;
mod path;
mod protect;

pub use self::{
    argument::{ArgumentGuard, ArgumentGuardBuilder, ArgumentRule, RuleError},
    audit::{AuditError, AuditLog, AuditLogBuilder, Fsync, OnFailure, Verified},
    judge::{CallRefused, OnViolation},
    path::{Access, PathError, PathGuard, PathGuardBuilder},
};
