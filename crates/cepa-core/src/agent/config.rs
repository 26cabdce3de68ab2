//! What can be set on an agent.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{fields::Fields, texts};

/// Settings of the reasoning-acting loop (`ReActConfig` of AgentScope 2.0.11).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReactConfig {
    /// Rounds before the forced last answer. 50 by default.
    pub max_iters: u32,
    /// Further rounds in which an owed structured output is forced. 5 by default, at least 1.
    pub structured_output_grace_iters: u32,
    /// Whether a reply ends without another model call when a person refuses a call. `false` by default: the model
    /// is told and goes on.
    pub stop_on_reject: bool,
    /// What an interrupted reply says.
    pub interruption_message: String,
    /// Whether an interrupted reply is an error ([`ErrorKind::Interrupted`](crate::ErrorKind)) rather than a message.
    pub interruption_raise_cancelled_error: bool,
    /// How long layers may go on after an interrupt; those around a round or a whole reply up to half of it longer.
    /// 2 s by default.
    pub interrupt_grace: Duration,
}

impl Default for ReactConfig {
    fn default() -> Self {
        Self {
            max_iters: 50,
            structured_output_grace_iters: 5,
            stop_on_reject: false,
            interruption_message: texts::MSG_INTERRUPTED.to_owned(),
            interruption_raise_cancelled_error: false,
            interrupt_grace: Duration::from_secs(2),
        }
    }
}

/// When and how the context is kept short (`ContextConfig` of AgentScope 2.0.11).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ContextConfig {
    /// Share of the model's context size at which the context is compressed: above 0, up to 0.9. 0.8 by default.
    pub trigger_ratio: f64,
    /// Share of the model's context size that the newest messages keep: above 0, below `trigger_ratio`. 0.1 by
    /// default.
    pub reserve_ratio: f64,
    /// Share before the trigger in which the model is told that a compression is near: 0 to 1, below
    /// `trigger_ratio`. 0.2 by default.
    pub context_buffer_ratio: f64,
    /// What the model is asked for a summary; `{current_time}` is filled in.
    pub compression_prompt: String,
    /// How the summary is put together from the fields of `summary_schema`.
    pub summary_template: String,
    /// JSON schema of a summary.
    pub summary_schema: Value,
    /// Tokens of a tool result above which it is cut. 50 000 by default.
    pub tool_result_limit: u64,
    /// Whether old messages are dropped without a summary when none can be made; otherwise that is an error.
    pub compression_fallback_to_truncation: bool,
    /// Whether the model may compress the context itself, with the tool `CompressContext`.
    pub compression_tool_enabled: bool,
    /// Images that stay in the context; older ones are taken out. 5 by default.
    pub max_image_num: usize,
}

impl Default for ContextConfig {
    fn default() -> Self {
        let fields =
            ["task_overview", "current_state", "important_discoveries", "next_steps", "context_to_preserve"];
        let properties: serde_json::Map<_, _> =
            fields.iter().map(|field| ((*field).to_owned(), json!({"type": "string"}))).collect();
        Self {
            trigger_ratio: 0.8,
            reserve_ratio: 0.1,
            context_buffer_ratio: 0.2,
            compression_prompt: texts::PROMPT_COMPRESSION.to_owned(),
            summary_template: texts::SUMMARY_TEMPLATE.to_owned(),
            summary_schema: json!({"type": "object", "properties": properties, "required": fields}),
            tool_result_limit: 50_000,
            compression_fallback_to_truncation: true,
            compression_tool_enabled: false,
            max_image_num: 5,
        }
    }
}

/// What the agent is told of time, tasks and its own context (`InjectionConfig` of AgentScope 2.0.11).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InjectionConfig {
    /// Whether it is told at all. `true` by default.
    pub inject_runtime_state: bool,
    /// IANA name of the time zone, such as `Asia/Shanghai`. `UTC` by default. Every other zone needs the system's time
    /// zone database: the package `tzdata`, which slim container images lack; on Windows it is built in.
    pub timezone: String,
    /// Format of the time (`strftime`). It should hold the date: a time that does not read back is told every round.
    pub time_format: String,
    /// Hours after which the time is told again. 0.5 by default.
    pub time_interval: f64,
    /// Failures of one same call in a row after which the model is told to do something else; at least 3.
    pub tool_retries_limit: usize,
    /// What it is told then; `{tool_name}` and `{count}` are filled in.
    pub tool_retries_hint: String,
    /// The hint around all of it; `{runtime_state}` is filled in.
    pub template: String,
    /// `source` of the hint, by which an earlier one is found.
    pub injection_source: String,
    /// Tools whose calls show that the model knows its tasks.
    pub task_tool_names: Vec<String>,
    /// Further fields, told along with the others.
    pub extra_fields: Fields,
    /// Whether the hint is sent as an event too.
    pub emit_hint_event: bool,
}

impl Default for InjectionConfig {
    fn default() -> Self {
        Self {
            inject_runtime_state: true,
            timezone: "UTC".to_owned(),
            time_format: "%Y-%m-%dT%H:%M:%S".to_owned(),
            time_interval: 0.5,
            tool_retries_limit: 3,
            tool_retries_hint: texts::HINT_TOOL_ERROR.to_owned(),
            template: texts::HINT_RUNTIME_STATE.to_owned(),
            injection_source: r#"{"label": "System", "sublabel": "Runtime State"}"#.to_owned(),
            task_tool_names: ["TaskCreate", "TaskGet", "TaskList", "TaskUpdate"].map(str::to_owned).to_vec(),
            extra_fields: Fields::default(),
            emit_hint_event: true,
        }
    }
}
