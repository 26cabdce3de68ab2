//! Models over APIs of DashScope's own.

mod builder;
mod events;
mod realtime_tts;

pub use self::{builder::DashScopeRealtimeTtsBuilder, realtime_tts::DashScopeRealtimeTts};
