//! What tests of agents and layers need: a model and a tool that follow a script, and expectations of events.
//!
//! Behind the feature `testing`.
//!
//! ```
//! use cepa_core::{Agent, serde_json::json, testing::{Answer, EventLog, ScriptedModel, ScriptedTool}};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let model = ScriptedModel::new([
//!     Answer::new().text("Let me see.").tool_call("weather", json!({"city": "Oslo"})),
//!     Answer::new().texts(["Snow", "."]).usage(120, 4),
//! ]);
//! let weather = ScriptedTool::new("weather", ["-3 °C, snow"]);
//! let mut agent = Agent::builder("Friday").model(model.clone()).tool(weather.clone()).build()?;
//!
//! let log = EventLog::of(agent.reply("How is the weather in Oslo?")).await;
//!
//! log.assert([
//!     "REPLY_START",
//!     "...",                                   // any number of events
//!     "TOOL_CALL_START weather",
//!     "TOOL_CALL_DELTA",                       // whatever its fields are
//!     "...",
//!     r#"TOOL_RESULT_TEXT_DELTA "-3 °C, snow""#,
//!     "TOOL_RESULT_END success",
//!     "...",
//!     r#"TEXT_BLOCK_DELTA "Snow""#,
//!     r#"TEXT_BLOCK_DELTA ".""#,
//!     "TEXT_BLOCK_END",
//!     "MODEL_CALL_END completed input_tokens=120",
//!     "REPLY_END completed",
//! ]);
//! assert_eq!(weather.calls(), [json!({"city": "Oslo"})]);
//! assert_eq!(model.requests().len(), 2);
//! # Ok(()) }
//! ```

mod align;
mod answer;
mod event_line;
mod event_log;
mod expected;
mod logged;
mod model;
mod script;
mod tool;

pub use self::{
    answer::Answer,
    event_log::EventLog,
    expected::{Expected, anything, event},
    logged::Logged,
    model::ScriptedModel,
    tool::{ScriptedTool, ToolAnswer},
};
