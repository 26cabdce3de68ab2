//! The JSON of content, borrowed from what is captured: it is written for each model call, and mostly long.

use std::borrow::Cow;

use cepa_core::{
    Fields, Id, Role, Timestamp, ToolResultState,
    serde_json::{Value, value::RawValue},
};
use serde::Serialize;

/// A message of the conventions.
#[derive(Serialize)]
pub(super) struct Message<'a> {
    pub(super) role: Role,
    pub(super) parts: Vec<Part<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) finish_reason: &'a str,
}

impl Message<'_> {
    /// In place of messages that there is no room for.
    pub(super) fn left_out(messages: usize) -> Self {
        let parts = vec![Part::note(messages, "message")];
        Self { role: Role::System, parts, name: None, finish_reason: "stop" }
    }
}

/// A part of a message.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Part<'a> {
    Text(Said<'a>),
    Reasoning(Said<'a>),
    ToolCall {
        id: &'a Id,
        name: Cow<'a, str>,
        arguments: Json<'a>,
    },
    ToolCallResponse {
        id: &'a Id,
        response: Json<'a>,
    },
    Uri {
        uri: Cow<'a, str>,
        modality: &'static str,
    },
    Blob {
        #[serde(flatten)]
        content: Said<'a>,
        media_type: &'a str,
        modality: &'static str,
    },
}

impl Part<'_> {
    /// In place of parts that there is no room for.
    pub(super) fn left_out(parts: usize) -> Self {
        Self::note(parts, "part")
    }

    fn note(count: usize, what: &str) -> Self {
        let s = if count == 1 { "" } else { "s" };
        Self::Text(Said::Content(format!("[{count} earlier {what}{s} left out]").into()))
    }
}

/// A text or data: itself, or how long it is.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Said<'a> {
    Content(Cow<'a, str>),
    Length(usize),
}

/// Arguments and results.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Json<'a> {
    /// JSON as it was written.
    Raw(&'a RawValue),
    Value(Value),
    Text(Cow<'a, str>),
    Output(Vec<Output<'a>>),
    Fields(&'a Fields),
    Length {
        length: usize,
    },
}

/// A block of a tool's result, as AgentScope 2.0.11 writes it.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Output<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(flatten)]
        made: Made<'a>,
    },
    Data {
        source: Source<'a>,
        name: Option<Cow<'a, str>>,
        #[serde(flatten)]
        made: Made<'a>,
    },
    /// Of which only the length may be told, or how many there are.
    #[serde(untagged)]
    Other(Part<'a>),
}

impl Output<'_> {
    /// In place of blocks that there is no room for.
    pub(super) fn left_out(blocks: usize) -> Self {
        Self::Other(Part::left_out(blocks))
    }
}

/// What each block has.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Made<'a> {
    pub(super) id: &'a Id,
    pub(super) created_at: &'a Timestamp,
    pub(super) finished_at: &'a Option<Timestamp>,
}

/// Where data is.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Source<'a> {
    Url {
        url: Cow<'a, str>,
        media_type: &'a str,
    },
    Base64 {
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        length: Option<usize>,
        media_type: &'a str,
    },
}

/// The result of a call.
#[derive(Serialize)]
pub(super) struct Result<'a> {
    pub(super) content: Vec<Output<'a>>,
    pub(super) state: ToolResultState,
    pub(super) metadata: Json<'a>,
    pub(super) id: &'a Id,
}

/// A tool, in the flat form of the conventions.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Definition<'a> {
    Function {
        name: &'a str,
        description: &'a str,
        parameters: &'a Value,
    },
    /// Those that there is no room for.
    LeftOut {
        name: String,
    },
}
