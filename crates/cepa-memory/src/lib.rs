//! Long-term memory for Cepa agents: what was said in one session is known in the next.
#![forbid(unsafe_code)]

#[cfg(any(feature = "mem0", feature = "reme"))]
mod http;
#[cfg(any(feature = "mem0", feature = "reme"))]
mod mode;
#[cfg(any(feature = "agentic", feature = "mem0", feature = "reme"))]
mod query;
#[cfg(feature = "reme")]
mod reme;
#[doc(hidden)]
pub mod texts;
#[cfg(any(feature = "mem0", feature = "reme"))]
mod turn;
#[cfg(any(feature = "mem0", feature = "reme"))]
mod writes;

#[cfg(feature = "reme")]
pub use self::reme::{
    JobAnswer, ReMe, ReMeError, ReMeMiddleware, ReMeMiddlewareBuilder, ReMeService, ReMeServiceBuilder,
};
#[cfg(any(feature = "mem0", feature = "reme"))]
pub use self::{http::ServerError, mode::Mode, writes::Pending};
