//! Runnable programs that use Cepa, one folder each.
//!
//! `cargo run --example quickstart`

/// The code of the documentation, compiled and run.
#[cfg(doctest)]
mod documentation {
    #[doc = include_str!("../../README.md")]
    struct Readme;

    #[doc = include_str!("../../docs/writing-middleware.md")]
    struct WritingMiddleware;

    #[doc = include_str!("../../docs/memory.md")]
    struct Memory;

    #[doc = include_str!("../../docs/rag.md")]
    struct Rag;

    #[doc = include_str!("../../docs/speech.md")]
    struct Speech;

    #[cfg(feature = "tracing")]
    #[doc = include_str!("../../docs/tracing.md")]
    struct Tracing;
}
