//! Guards for Cepa agents: personal data, secrets, paths, arguments, audit.
//!
//! | layer | what it does |
//! |---|---|
//! | [`PiiGuard`] | takes personal data out of input, answers, arguments and results, in the stream too |
//! | [`SecretScrub`] | the same for keys, tokens and passwords |
//! | [`ToolOutputLimit`] | cuts what a tool says too much |
#![forbid(unsafe_code)]

mod output_limit;
mod pii;
mod screen;
mod secrets;

pub use self::{
    output_limit::{AtLimit, FullOutput, OutputLimitError, ToolOutputLimit, ToolOutputLimitBuilder},
    pii::{PiiGuard, PiiGuardBuilder},
    screen::{Action, Cleaned, OnBlock, Pii, PiiBlocked, ScreenError},
    secrets::{SecretScrub, SecretScrubBuilder},
};
