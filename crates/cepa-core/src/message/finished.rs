//! How a reply ended.

use crate::{
    fields::Fields,
    wire::{names, wire},
};

/// Why a reply ended (AgentScope 2.0.11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReplyFinishedReason {
    /// The agent was done.
    #[default]
    Completed,
    /// Somebody stopped it.
    Interrupted,
    /// It used up its rounds.
    ExceedMaxIters,
    /// It failed.
    Error,
}

names!(ReplyFinishedReason, "a reason why a reply finished", {
    Completed = "completed",
    Interrupted = "interrupted",
    ExceedMaxIters = "exceed_max_iters",
    Error = "error",
});

/// What kind of failure ended a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorType {
    /// The key or token was refused.
    Authentication,
    /// The account may not do this.
    Permission,
    /// Too many requests.
    RateLimit,
    /// The request is wrong and will stay so.
    InvalidRequest,
    /// The provider failed.
    Upstream,
    /// The provider was not reached.
    Connection,
    /// The agent's own code failed.
    Internal,
    /// The agent is set up wrongly.
    Setup,
    /// None of these, or not known.
    #[default]
    Unknown,
}

names!(ErrorType, "an error type", {
    Authentication = "authentication",
    Permission = "permission",
    RateLimit = "rate_limit",
    InvalidRequest = "invalid_request",
    Upstream = "upstream",
    Connection = "connection",
    Internal = "internal",
    Setup = "setup",
    Unknown = "unknown",
});

/// The failure that ended a reply, as clients see it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ErrorInfo {
    /// What kind of failure it is; `type` in JSON.
    pub kind: ErrorType,
    /// The failure in words.
    pub message: String,
    /// Fields that this version does not know.
    pub extra: Fields,
}

impl ErrorInfo {
    /// A failure of a kind, in words.
    pub fn new(kind: ErrorType, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), extra: Fields::new() }
    }
}

wire!(ErrorInfo, "an error", { kind as "type" = ErrorType::Unknown, message });
