//! `BackgroundTools` against tools that are slow, hang, fail, flood or panic, and replies that end before they do.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

mod background {
    pub(crate) mod agents;
    mod endings;
    mod limits;
    mod moving;
    mod sessions;
}
