//! Memory by mem0: a server of one's own, or the hosted platform.
//!
//! [`Mem0Middleware`] searches before a reply and writes after it, gives the model tools for both, or all of that.
//! Behind it stands a [`Mem0`]: a [`Mem0Server`], a [`Mem0Platform`], or anything else that can search and add.
//!
//! ```
//! use std::time::Duration;
//! use cepa_memory::{Mode, mem0::{Mem0Middleware, Mem0Server}};
//!
//! # fn main() -> Result<(), cepa_memory::ServerError> {
//! let server = Mem0Server::builder("http://127.0.0.1:8000").build()?;
//! let memory = Mem0Middleware::builder(server)
//!     .user_id("alice")
//!     .mode(Mode::StaticControl)
//!     .search_deadline(Duration::from_secs(2)) // a reply waits no longer than this
//!     .build()?;
//! // Agent::builder("Friday").middleware(memory)…
//! # let _ = memory; Ok(()) }
//! ```

mod answers;
mod backend;
mod builder;
mod exchange;
mod memory;
mod middleware;
mod platform;
mod scope;
mod server;
#[doc(hidden)]
pub mod texts;
mod tools;

pub use self::{
    backend::{Mem0, Mem0Add, Mem0Added, Mem0Memory, Mem0Message, Mem0Search},
    builder::Mem0Builder,
    middleware::Mem0Middleware,
    platform::{Mem0Platform, Mem0PlatformBuilder},
    scope::MemoryScope,
    server::{Mem0Server, Mem0ServerBuilder},
};
