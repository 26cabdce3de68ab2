//! Token budgets for Cepa agents.
//!
//! [`ReplyBudgetControlMiddleware`] sums what the model calls of a reply cost, those that the agent and its layers
//! make for themselves included, and has the agent wrap up once the budget is spent.
//!
//! ```
//! use cepa_budget::ReplyBudgetControlMiddleware;
//!
//! # fn main() -> Result<(), cepa_budget::BudgetError> {
//! let budget = ReplyBudgetControlMiddleware::builder(10_000)
//!     .output_token_weight(4.0) // an output token costs as much as four input tokens
//!     .build()?;
//! // Agent::builder("Friday").middleware(budget)…
//! # let _ = budget; Ok(()) }
//! ```
#![forbid(unsafe_code)]

mod builder;
mod call;
mod middleware;
mod spent;
#[doc(hidden)]
pub mod texts;

pub use self::{
    builder::{BudgetError, Builder},
    middleware::{AtEnd, BudgetSpent, Per, ReplyBudgetControlMiddleware},
};
