//! Long-term memory for Cepa agents: what was said in one session is known in the next.
//!
//! | layer | feature | where memories are |
//! |---|---|---|
//! | `AgenticMemoryMiddleware` | `agentic` | Markdown files in a folder, which the agent keeps with tools of its own |
//! | `Mem0Middleware` | `mem0` | a mem0 server, or its hosted platform |
//! | `ReMeMiddleware` | `reme` | a ReMe service |
//!
//! No failure of a memory ends a reply, and no reply waits for a write. One layer serves any number of agents at once.
#![forbid(unsafe_code)]

#[cfg(feature = "agentic")]
pub mod agentic;
#[cfg(any(feature = "agentic", feature = "mem0", feature = "reme"))]
mod cut;
#[cfg(any(feature = "agentic", feature = "mem0", feature = "reme"))]
mod inert;
#[cfg(any(feature = "mem0", feature = "reme"))]
mod limits;
#[cfg(feature = "mem0")]
pub mod mem0;
#[cfg(any(feature = "mem0", feature = "reme"))]
mod mode;
#[cfg(any(feature = "agentic", feature = "mem0", feature = "reme"))]
mod query;
#[cfg(feature = "reme")]
mod reme;
#[doc(hidden)]
pub mod texts;
#[cfg(any(feature = "mem0", feature = "reme"))]
mod troubles;
#[cfg(any(feature = "mem0", feature = "reme"))]
mod turn;
#[cfg(any(feature = "mem0", feature = "reme"))]
mod writes;

#[cfg(feature = "agentic")]
#[doc(inline)]
pub use self::agentic::{AgenticMemoryError, AgenticMemoryMiddleware};
#[cfg(feature = "reme")]
pub use self::reme::{
    JobAnswer, ReMe, ReMeError, ReMeMiddleware, ReMeMiddlewareBuilder, ReMeService, ReMeServiceBuilder,
};
#[cfg(any(feature = "mem0", feature = "reme"))]
pub use self::{mode::Mode, writes::FlushError};
#[cfg(any(feature = "mem0", feature = "reme"))]
pub use cepa_http::ServerError;
