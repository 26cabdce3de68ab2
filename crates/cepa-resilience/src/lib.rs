//! Resilience for Cepa agents: retries, fallbacks, limits, timeouts, circuit breakers, background tools.
//!
//! | layer | what it does |
//! |---|---|
//! | [`BackgroundTools`] | lets tool calls that take long go on in the background |
//! | [`ToolErrorPolicy`] | decides what becomes of tools that fail: told, in other words, hidden, the end |
//! | [`ToolRetry`] | tries tool calls again that failed |
//! | [`ModelFallback`] | asks another model where one has failed |
//! | [`ModelRetry`] | asks a model again that has failed |
//! | [`ModelCallLimit`] | limits the model calls of a reply and of a session |
//! | [`ToolCallLimit`] | limits the tool calls of a reply and of a session, altogether and by tool |
//! | [`CircuitBreaker`] | stops calling a model or a tool that keeps failing |
//! | [`RateLimit`] | requests and tokens per minute, shared by many agents |
//! | [`ConcurrencyLimit`] | model and tool calls at once, shared by many agents |
//! | [`Timeout`] | limits how long replies, rounds, model calls and tool calls take |
//!
//! In this order, outermost first, they work together: each attempt is limited and counted, and another model is asked
//! when all attempts have failed. The agent's builder warns where layers are the wrong way round.
#![forbid(unsafe_code)]

mod background_tools;
mod backoff;
mod circuit_breaker;
mod concurrency_limit;
mod limits;
mod model_call_limit;
mod model_fallback;
mod model_retry;
mod nested;
mod options;
mod rate_limit;
mod refused;
mod spent;
#[doc(hidden)]
pub mod texts;
mod timeout;
mod tool_call_limit;
mod tool_error_policy;
mod tool_failure;
mod tool_retry;
mod when;

pub use self::{
    background_tools::{
        BackgroundCall, BackgroundCalls, BackgroundTools, BackgroundToolsBuilder, StillRunning,
    },
    backoff::Backoff,
    circuit_breaker::{CircuitBreaker, CircuitBreakerBuilder, CircuitOpen, CircuitState},
    concurrency_limit::{ConcurrencyLimit, ConcurrencyLimitBuilder},
    limits::{AtLimit, LimitPer, LimitReached},
    model_call_limit::{ModelCallLimit, ModelCallLimitBuilder},
    model_fallback::{ModelFallback, ModelFallbackBuilder},
    model_retry::{ModelRetry, ModelRetryBuilder},
    options::OptionError,
    rate_limit::{RateLimit, RateLimitBuilder},
    refused::WaitTooLong,
    timeout::{AtReplyLimit, ModelTimeout, REPLY_TIMEOUT, Timeout, TimeoutBuilder},
    tool_call_limit::{ToolCallLimit, ToolCallLimitBuilder},
    tool_error_policy::{OnToolError, ToolErrorPolicy, ToolFailed},
    tool_failure::ToolFailure,
    tool_retry::{ToolRetry, ToolRetryBuilder},
};
