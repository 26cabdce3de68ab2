//! The JSON of an answer, streamed or not. Lenient: what a server leaves out, or sends as `null`, is not there.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::Value;

use super::usage::WireUsage;

/// One packet of a stream, or the whole answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Packet {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) choices: Option<Vec<Choice>>,
    pub(super) usage: Option<WireUsage>,
    pub(super) error: Option<Value>,
}

/// One of the answers that a request may ask for; Cepa asks for one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    pub(super) index: Option<u64>,
    #[serde(alias = "message")]
    pub(super) delta: Option<Delta>,
    pub(super) finish_reason: Option<String>,
    /// Moonshot sends it here.
    pub(super) usage: Option<WireUsage>,
}

/// A piece of the answer, or all of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta {
    pub(super) content: Option<Content>,
    pub(super) reasoning_content: Option<Content>,
    pub(super) reasoning: Option<Content>,
    pub(super) refusal: Option<String>,
    pub(super) tool_calls: Option<Vec<CallPiece>>,
}

/// Text, plain or in parts.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
    Other(IgnoredAny),
}

/// A part of a content in parts (Mistral).
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum ContentPart {
    Text { text: String },
    Thinking { thinking: Box<Content> },
    Other(IgnoredAny),
}

/// A piece of a tool call, or all of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CallPiece {
    pub(super) index: Option<u64>,
    #[serde(deserialize_with = "text_of_any")]
    pub(super) id: String,
    pub(super) function: Option<Function>,
}

/// The function of a call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Function {
    #[serde(deserialize_with = "text_of_any")]
    pub(super) name: String,
    /// JSON text by the book; some servers send the object itself.
    #[serde(deserialize_with = "text_of_any")]
    pub(super) arguments: String,
}

impl Content {
    /// The text in it, and apart from that the thinking in it.
    pub(super) fn split(self) -> (String, String) {
        match self {
            Self::Text(text) => (text, String::new()),
            Self::Parts(parts) => {
                let (mut text, mut thinking) = (String::new(), String::new());
                for part in parts {
                    match part {
                        ContentPart::Text { text: piece } => text.push_str(&piece),
                        ContentPart::Thinking { thinking: piece } => thinking.push_str(&piece.split().0),
                        ContentPart::Other(_) => {}
                    }
                }
                (text, thinking)
            }
            Self::Other(_) => Default::default(),
        }
    }
}

/// A text; of anything else its JSON text, and nothing of `null`.
fn text_of_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Any<'a> {
        Text(#[serde(borrow)] Cow<'a, str>),
        Other(Value),
    }
    Ok(match Any::deserialize(deserializer)? {
        Any::Text(text) => text.into_owned(),
        Any::Other(Value::Null) => String::new(),
        Any::Other(value) => value.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_content_in_parts_with_thinking() {
        let content: Content = serde_json::from_value(json!([
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
            {"type": "text", "text": "so"},
            {"type": "reference", "ids": [1]},
        ]))
        .unwrap();
        assert_eq!(content.split(), ("so".to_owned(), "hm".to_owned()));
    }

    #[test]
    fn null_and_odd_fields_are_no_failure() {
        let packet: Packet = serde_json::from_value(json!({
            "id": null, "choices": [{"delta": {
                "content": null, "reasoning": {"x": 1},
                "tool_calls": [{"id": null, "function": {"name": "f", "arguments": {"a": 1}}}, {"id": 7}],
            }, "finish_reason": null}], "usage": null,
        }))
        .unwrap();
        let delta = packet.choices.unwrap().pop().unwrap().delta.unwrap();
        let calls = delta.tool_calls.unwrap();
        assert_eq!(calls[0].id, "");
        assert_eq!(calls[0].function.as_ref().unwrap().arguments, r#"{"a":1}"#);
        assert_eq!(calls[1].id, "7");
    }
}
