//! What was measured.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use cepa_core::AgentEvent;
use serde::{Deserialize, Serialize};

use super::TimingMiddleware;
use crate::end::read_event;

/// The times of one call of `agent.reply`, by hook and by tool.
///
/// Each is what ran *inside* of the [`TimingMiddleware`] at that hook: the layers after it and the agent itself. They
/// contain each other, so they are not to be added up:
///
/// | time | of | contains |
/// |---|---|---|
/// | `on_reply` | the reply, to its end or to a pause | all others, and the waiting for whoever reads the events |
/// | `on_reasoning` | a question to the model with its attempts | the `on_model_call`s of the answer |
/// | `on_model_call` | one call of a model, with what its client sends again; also for a summary and for layers | |
/// | `on_check_permission` | the decision on a tool call | |
/// | `on_acting` | a tool call that runs | |
/// | `on_compress_context` | the check before each question, and the compression | the `on_model_call`s of the summary |
/// | `on_system_prompt` | building the prompt | |
/// | `tools` | `on_acting` by the name of the tool | |
///
/// Tools that run side by side each have their whole time: together they may take longer than the reply.
///
/// Layers stand in a row at `on_system_prompt` and none is inside of another; its time is from the layer's turn to the
/// beginning of the next hook.
///
/// In JSON, hooks that did not run are left out:
/// `{"on_reply": {"calls": 1, "seconds": 0.5, "max_seconds": 0.5}, …, "tools": {"search": {"calls": 2, …}}}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct Timings {
    /// The whole call.
    #[serde(skip_serializing_if = "Timing::is_empty")]
    pub on_reply: Timing,
    /// Rounds.
    #[serde(skip_serializing_if = "Timing::is_empty")]
    pub on_reasoning: Timing,
    /// Attempts of model requests.
    #[serde(skip_serializing_if = "Timing::is_empty")]
    pub on_model_call: Timing,
    /// Decisions on tool calls.
    #[serde(skip_serializing_if = "Timing::is_empty")]
    pub on_check_permission: Timing,
    /// Tool calls.
    #[serde(skip_serializing_if = "Timing::is_empty")]
    pub on_acting: Timing,
    /// Checks whether the context is too long, and its compressions.
    #[serde(skip_serializing_if = "Timing::is_empty")]
    pub on_compress_context: Timing,
    /// Builds of the system prompt.
    #[serde(skip_serializing_if = "Timing::is_empty")]
    pub on_system_prompt: Timing,
    /// Tool calls by the tool's name.
    pub tools: BTreeMap<Arc<str>, Timing>,
}

impl Timings {
    /// What an event tells, if it is the one of a [`TimingMiddleware`].
    pub fn of_event(event: &AgentEvent) -> Option<Self> {
        read_event(event, TimingMiddleware::EVENT)
    }
}

/// How often something ran, and how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Timing {
    /// How often it ran, failed and cut off runs included.
    pub calls: u64,
    /// The sum. In JSON `seconds`.
    #[serde(rename = "seconds", with = "seconds")]
    pub total: Duration,
    /// The longest run. In JSON `max_seconds`.
    #[serde(rename = "max_seconds", with = "seconds", default)]
    pub max: Duration,
}

impl Timing {
    /// Nothing has run.
    pub const fn is_empty(&self) -> bool {
        self.calls == 0
    }

    pub(super) fn add(&mut self, took: Duration) {
        self.calls = self.calls.saturating_add(1);
        self.total = self.total.saturating_add(took);
        self.max = self.max.max(took);
    }
}

/// Durations as seconds.
mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(duration.as_secs_f64())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        Duration::try_from_secs_f64(f64::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use cepa_core::serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn times_are_seconds_in_json_and_hooks_that_did_not_run_are_left_out() {
        let mut timings = Timings::default();
        timings.on_reply.add(Duration::from_millis(500));
        let search = timings.tools.entry("search".into()).or_default();
        search.add(Duration::from_millis(100));
        search.add(Duration::from_millis(200));
        let json = json!({
            "on_reply": {"calls": 1, "seconds": 0.5, "max_seconds": 0.5},
            "tools": {"search": {"calls": 2, "seconds": 0.3, "max_seconds": 0.2}},
        });
        assert_eq!(to_value(&timings).unwrap(), json);
        assert_eq!(from_value::<Timings>(json).unwrap(), timings);
        assert!(from_value::<Timings>(json!({"on_reply": {"calls": 1, "seconds": -1}})).is_err());
    }
}
