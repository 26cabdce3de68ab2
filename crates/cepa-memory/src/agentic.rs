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
mod upkeep;

use crate::{cut, inert};

pub use self::{error::AgenticMemoryError, middleware::AgenticMemoryMiddleware, settings::Builder};
