//! Traces, metrics, timing and usage of Cepa agents.
//!
//! [`TracingMiddleware`] makes spans and metrics by the OpenTelemetry GenAI semantic conventions. [`TimingMiddleware`] tells
//! how long hooks and tools took, [`UsageMiddleware`] what tokens were used and what they cost.
#![forbid(unsafe_code)]

mod capture;
mod chat;
mod content;
mod end;
mod link;
mod metrics;
mod middleware;
pub mod names;
mod reply;
mod span;
mod timing;
mod tool;
mod usage;

pub use self::{
    capture::Capture,
    middleware::TracingMiddleware,
    timing::{Timing, TimingMiddleware, Timings},
    usage::{
        Cost, CostError, ModelUsage, Price, PriceError, Prices, PricesBuilder, ReplyUsage, SessionUsage,
        UsageMiddleware, UsageSums,
    },
};
