//! Benchmarks of Cepa, one module each: `cargo xtask bench NAME`.
//!
//! A benchmark does fixed work with a scripted model inside the process and measures it in CPU time of its thread, which
//! other load on the machine disturbs least. Configurations take turns, so that what disturbs them disturbs all; a
//! figure is the best of many rounds, its median stands beside it. Only ratios within one run count.

pub mod agent_loop;
mod chunking;
mod clock;
mod counter;
pub mod layers;
pub mod memory;
pub mod onion;
mod report;
pub mod retrieval;
mod samples;
pub mod speech;
pub mod traces;
pub mod vectors;

pub use self::report::{Figure, Goal, Report};

/// What ends a benchmark early.
pub type Error = Box<dyn std::error::Error>;
