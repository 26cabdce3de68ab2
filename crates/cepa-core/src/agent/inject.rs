//! Telling the model what changes around it: time, tasks, the length of its context, calls that keep failing.
//!
//! What has changed goes into the context as one hint, which stays there: so the model sees how time passes, and the
//! system prompt stays the same for the server's cache. In the hint each thing is a line `<key>value</key>`, by which
//! a later round, here or in AgentScope, knows what was told already.

mod known;
mod repeated;

use std::{borrow::Cow, sync::Arc};

use jiff::Timestamp;
use serde_json::Value;

pub(super) use self::known::Read as TimeTold;
use self::{known::Known, repeated::repeated_failure};
use super::{builder::BuildError, clock, config::InjectionConfig, context, emit::Events, scope::ReplyScope};
use crate::{
    error::Result,
    event::EventKind,
    message::{ContentBlock, HintBlock, Msg},
    model::ToolSchema,
    state::{AgentState, Task, TaskState},
    texts::{self, fill},
};

const CURRENT_TIME: &str = "current-time";
const TIMEZONE: &str = "timezone";
const TASKS: &str = "tasks";
const CONTEXT_LENGTH: &str = "context-length";
const TOOL_ERROR: &str = "tool-error";

/// The place in the template where the lines go.
const PLACE: &str = "runtime_state";

/// Checks what can only be used or not.
pub(super) fn check(config: &InjectionConfig) -> Result<(), BuildError> {
    if !config.template.contains("{runtime_state}") {
        let reason = "it has no `{runtime_state}`, the place where the state is put".to_owned();
        return Err(BuildError::Invalid { field: "template", reason });
    }
    clock::check(config)
}

impl ReplyScope {
    /// Adds a hint to the reply's message if the model does not know how things stand (AgentScope 2.0.11).
    pub(super) async fn inject_runtime_state(&self, events: &Events) -> Result<()> {
        let config = &self.definition.injection;
        if !config.inject_runtime_state {
            return Ok(());
        }
        let mut lines = self.lines()?;
        if lines.is_empty() {
            return Ok(());
        }
        lines.add_extra(config);
        let text = fill(&config.template, &[(PLACE, &lines.join())]);
        let hint = HintBlock::new(text).with_source(config.injection_source.as_str());
        let kind = config.emit_hint_event.then(|| EventKind::HintBlock {
            reply_id: events.id(),
            block_id: hint.id.clone(),
            source: hint.source.clone(),
            hint: hint.hint.clone(),
        });
        self.state()?.append_context(self.definition.name.clone(), [ContentBlock::Hint(hint)]);
        if let Some(kind) = kind {
            events.emit(kind).await;
        }
        Ok(())
    }

    /// What the model is to be told now.
    fn lines(&self) -> Result<Lines<'_>> {
        let config = &self.definition.injection;
        let mut lines = Lines::default();
        let state = self.state()?;
        let open = OpenTasks::count(&state.tasks_context.tasks);
        let known = Known::scan(&state.context, config, open.any());
        if known.time_is_due(config, Timestamp::now(), &mut self.run_state().time_told) {
            let (time, zone) = clock::now_text(config);
            lines.add(CURRENT_TIME, time);
            lines.add(TIMEZONE, zone);
        }
        if open.any() && !known.tasks {
            let (in_progress, pending) = (open.in_progress.to_string(), open.pending.to_string());
            lines
                .add(TASKS, fill(texts::HINT_TASKS, &[("in_progress", &in_progress), ("pending", &pending)]));
        }
        let failing = context::reply_message(&state, &self.definition.name)
            .and_then(|msg| repeated_failure(msg, config.tool_retries_limit))
            .map(|(tool, count)| {
                // The name is the model's. As a tag, it would be taken for a line of the hint.
                let tool = tool.replace('<', "&lt;");
                fill(&config.tool_retries_hint, &[("tool_name", &tool), ("count", &count.to_string())])
            });
        // Only then has the context grown by something that nobody has measured yet.
        let request = (state.reply_context.cur_iter == 0).then(|| self.request_to_measure(&state)).flatten();
        drop(state);
        if let Some((messages, tools)) = request {
            let tokens = self.definition.model.count_tokens(&messages, &tools);
            if let Some(text) = self.context_length(tokens, open.in_progress == 0) {
                lines.add(CONTEXT_LENGTH, text);
            }
        }
        if let Some(text) = failing {
            lines.add(TOOL_ERROR, text);
        }
        Ok(lines)
    }

    fn request_to_measure(&self, state: &AgentState) -> Option<Request> {
        let prompt = self.run_state().prompt.clone()?;
        Some((Self::messages(state, &prompt), self.tool_schemas(state)))
    }

    /// What to say of the context's length, if a compression is near.
    fn context_length(&self, tokens: u64, between_tasks: bool) -> Option<String> {
        let config = &self.definition.context;
        let size = self.definition.model.context_size() as f64;
        if tokens as f64 <= (config.trigger_ratio - config.context_buffer_ratio) * size {
            return None;
        }
        let trigger = (config.trigger_ratio * size) as u64;
        let values = [("tokens", tokens.to_string()), ("trigger", trigger.to_string())];
        let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
        let mut text = fill(texts::HINT_CONTEXT_LENGTH, &values);
        if config.compression_tool_enabled && between_tasks {
            text.push_str(texts::HINT_CONTEXT_COMPRESS_TOOL);
        }
        Some(text)
    }
}

/// Messages and tools, as the model would get them now.
type Request = (Vec<Arc<Msg>>, Arc<[ToolSchema]>);

/// How many tasks are not done.
struct OpenTasks {
    in_progress: usize,
    pending: usize,
}

impl OpenTasks {
    fn count(tasks: &[Task]) -> Self {
        let of = |state| tasks.iter().filter(|task| task.state == state).count();
        Self { in_progress: of(TaskState::InProgress), pending: of(TaskState::Pending) }
    }

    fn any(&self) -> bool {
        self.in_progress > 0 || self.pending > 0
    }
}

/// The lines of a hint, by key.
#[derive(Default)]
struct Lines<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'a> Lines<'a> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, key: &'static str, value: String) {
        self.0.push((key.into(), value.into()));
    }

    /// Adds what is told along with the rest; a key that is there already gets the new value.
    fn add_extra(&mut self, config: &'a InjectionConfig) {
        for (key, value) in config.extra_fields.iter() {
            let value = match value {
                Value::String(text) => Cow::Borrowed(text.as_str()),
                other => Cow::Owned(other.to_string()),
            };
            match self.0.iter_mut().find(|(known, _)| known == key) {
                Some((_, known)) => *known = value,
                None => self.0.push((key.into(), value)),
            }
        }
    }

    fn join(&self) -> String {
        let mut text = String::new();
        for (key, value) in &self.0 {
            let end = if text.is_empty() { "" } else { "\n" };
            for part in [end, "<", key, ">", value, "</", key, ">"] {
                text.push_str(part);
            }
        }
        text
    }
}
