//! Runnable programs that use Cepa, one folder each.
//!
//! `cargo run --example quickstart`
