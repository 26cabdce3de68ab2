//! Runnable programs, one folder each: `cargo run --example quickstart`.
