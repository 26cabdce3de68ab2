//! Traces, metrics, timing and usage of Cepa agents.
//!
//! [`TracingMiddleware`] makes spans and metrics by the OpenTelemetry GenAI semantic conventions.
#![forbid(unsafe_code)]

mod capture;
mod chat;
mod content;
mod link;
mod metrics;
mod middleware;
pub mod names;
#[cfg(feature = "otlp")]
mod otlp;
mod reply;
mod span;
mod tool;

#[cfg(feature = "otlp")]
pub use self::otlp::{Otlp, OtlpError, OtlpGuard, otlp};
pub use self::{capture::Capture, middleware::TracingMiddleware};
