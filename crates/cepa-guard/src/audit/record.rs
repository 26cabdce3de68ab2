//! What a line says.

use std::{fmt, sync::Arc};

use serde::Serialize;
use serde_json::{Value, json};

use super::{Inner, line::sha256};

/// What a line is about.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Event {
    Call,
    Result,
    Decision,
}

/// One line, without its place in the chain.
#[derive(Debug, Serialize)]
pub(super) struct Record<'a> {
    pub(super) event: Event,
    pub(super) at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) who: Option<&'a Value>,
    pub(super) agent: &'a str,
    pub(super) session: &'a str,
    pub(super) reply: &'a str,
    pub(super) call: String,
    pub(super) tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) decision: Option<Decision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text_bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ms: Option<u64>,
}

/// What was decided on a call.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Decision {
    pub(super) behavior: &'static str,
    pub(super) message: String,
}

impl Record<'_> {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        // Maps with text keys and plain fields: this cannot fail.
        serde_json::to_vec(self).unwrap_or_else(|_| b"{}".to_vec())
    }
}

/// How much of a call is written, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) arguments: usize,
    pub(super) result: usize,
}

type ScrubArguments = Arc<dyn Fn(&str, &mut Value) + Send + Sync>;
type ScrubResult = Arc<dyn Fn(&str, &mut String) + Send + Sync>;

/// What takes out of arguments and results what must not be kept.
#[derive(Clone, Default)]
pub(super) struct Scrub {
    pub(super) arguments: Option<ScrubArguments>,
    pub(super) result: Option<ScrubResult>,
}

impl fmt::Debug for Scrub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scrub")
    }
}

impl Inner {
    /// Arguments as they are written.
    pub(super) fn arguments(&self, tool: &str, input: &str) -> Value {
        let mut value = serde_json::from_str(input).unwrap_or_else(|_| Value::String(input.to_owned()));
        if let Some(scrub) = &self.scrub.arguments {
            scrub(tool, &mut value);
        }
        let text = value.to_string();
        if text.len() <= self.limits.arguments {
            return value;
        }
        json!({
            "cut": true,
            "bytes": text.len(),
            "sha256": sha256(text.as_bytes()),
            "begin": head(&text, self.limits.arguments),
        })
    }

    /// A result, or what is said of it, as it is written.
    pub(super) fn text(&self, tool: &str, mut text: String) -> String {
        if let Some(scrub) = &self.scrub.result {
            scrub(tool, &mut text);
        }
        text.truncate(head(&text, self.limits.result).len());
        text
    }
}

/// At most so many bytes of a text's beginning.
pub(super) fn head(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
