//! The events of a realtime session.

use cepa_core::Fields;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is told to the server.
#[derive(Debug, Serialize)]
#[serde(tag = "type")]
pub(super) enum Say<'a> {
    #[serde(rename = "session.update")]
    Update { session: &'a SessionSettings },
    #[serde(rename = "input_text_buffer.append")]
    Append { text: &'a str },
    /// Speak what is left in the buffer.
    #[serde(rename = "input_text_buffer.commit")]
    Commit,
    #[serde(rename = "session.finish")]
    Finish,
}

/// The settings of a session.
#[derive(Debug, Serialize)]
pub(super) struct SessionSettings {
    pub(super) voice: String,
    pub(super) mode: &'static str,
    pub(super) response_format: &'static str,
    pub(super) sample_rate: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) language_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) speech_rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) instructions: Option<String>,
    #[serde(flatten)]
    pub(super) extra: Fields,
}

/// What the server tells.
#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
pub(super) enum Heard {
    /// Samples, as base64.
    #[serde(rename = "response.audio.delta")]
    Audio { delta: String },
    /// A part of the text is spoken, or could not be.
    #[serde(rename = "response.done")]
    Response {
        #[serde(default)]
        response: Value,
    },
    /// All of the text is spoken.
    #[serde(rename = "session.finished")]
    Finished,
    #[serde(rename = "error")]
    Error {
        #[serde(default)]
        error: Value,
    },
    /// Only news of how far the server is.
    #[serde(other)]
    News,
}

impl Say<'_> {
    /// The JSON, with an id that is unique in its session.
    pub(super) fn json(&self, id: usize) -> serde_json::Result<String> {
        #[derive(Serialize)]
        struct Event<'a> {
            event_id: String,
            #[serde(flatten)]
            event: &'a Say<'a>,
        }
        serde_json::to_string(&Event { event_id: format!("event_{id}"), event: self })
    }
}
