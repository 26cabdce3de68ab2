//! Traces, metrics, timing and usage of Cepa agents.
//!
//! [`TracingMiddleware`] makes spans and metrics by the OpenTelemetry GenAI semantic conventions. [`TimingMiddleware`] tells
//! how long hooks and tools took, [`UsageMiddleware`] what tokens were used and what they cost.
#![forbid(unsafe_code)]

mod capture;
mod chat;
mod content;
mod end;
#[cfg(any(feature = "html", feature = "otlp", feature = "terminal"))]
mod events;
#[cfg(feature = "html")]
mod html;
mod link;
mod metrics;
mod middleware;
pub mod names;
#[cfg(feature = "otlp")]
mod otlp;
mod reply;
#[cfg(any(feature = "html", feature = "otlp", feature = "terminal"))]
mod setup;
mod span;
#[cfg(feature = "terminal")]
mod terminal;
mod timing;
mod tool;
mod usage;
#[cfg(any(feature = "html", feature = "terminal"))]
mod view;

#[cfg(feature = "html")]
pub use self::html::{Html, html};
#[cfg(feature = "otlp")]
pub use self::otlp::{Otlp, OtlpError, OtlpGuard, otlp};
#[cfg(any(feature = "html", feature = "otlp", feature = "terminal"))]
pub use self::setup::SetupError;
#[cfg(feature = "terminal")]
pub use self::terminal::{Terminal, terminal};
pub use self::{
    capture::Capture,
    middleware::TracingMiddleware,
    timing::{Timing, TimingMiddleware, Timings},
    usage::{
        Cost, CostError, ModelUsage, Price, PriceError, Prices, PricesBuilder, ReplyUsage, SessionUsage,
        UsageMiddleware, UsageSums,
    },
};
