//! Resilience for Cepa agents: retries, fallbacks, limits, timeouts, circuit breakers, background tools.
#![forbid(unsafe_code)]

mod background_tools;
mod backoff;
mod limits;
mod model_call_limit;
mod options;
mod refusal;
#[doc(hidden)]
pub mod texts;
mod tool_call_limit;
mod tool_error_policy;
mod tool_failure;
mod tool_retry;

pub use self::{
    background_tools::{
        BackgroundCall, BackgroundCalls, BackgroundTools, BackgroundToolsBuilder, StillRunning,
    },
    backoff::Backoff,
    limits::{AtLimit, LimitPer, LimitReached},
    model_call_limit::{ModelCallLimit, ModelCallLimitBuilder},
    options::OptionError,
    tool_call_limit::{ToolCallLimit, ToolCallLimitBuilder},
    tool_error_policy::{OnToolError, ToolErrorPolicy, ToolFailed},
    tool_failure::ToolFailure,
    tool_retry::{ToolRetry, ToolRetryBuilder},
};
