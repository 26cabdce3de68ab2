//! The chain without the agent: closures as cores, closures as layers.
//!
//! Where a fault would be a hang, the test has a time limit ([`harness::within`]). What the stress tests repeat is
//! repeated more often with `CEPA_STRESS=<rounds>`.

mod attempts;
mod content;
mod dropping;
mod emitters;
mod errors;
mod fairness;
mod harness;
mod layers;
mod moving;
mod my_state;
mod stacks;
mod stress;
