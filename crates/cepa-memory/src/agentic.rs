//! Memory in Markdown files.

mod error;
mod folder;
mod front_matter;
mod index;
mod listing;
mod middleware;
mod name;
mod prompt;
mod selection;
mod settings;
mod tools;

use crate::cut;

pub use self::{error::AgenticMemoryError, middleware::AgenticMemoryMiddleware, settings::Builder};
