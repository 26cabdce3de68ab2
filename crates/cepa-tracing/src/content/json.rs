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
    pub(super) name: Option<&'a str>,
    pub(super) finish_reason: &'a str,
}

/// A part of a message.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Part<'a> {
    Text(Said<'a>),
    Reasoning(Said<'a>),
    ToolCall {
        id: &'a Id,
        name: &'a str,
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
    /// Of which only the length may be told.
    #[serde(untagged)]
    Other(Part<'a>),
}

/// What each block has.
#[derive(Serialize)]
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
    pub(super) metadata: Metadata<'a>,
    pub(super) id: &'a Id,
}

/// What a tool tells the program.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Metadata<'a> {
    Whole(&'a Fields),
    Changed(Value),
}

/// A tool, in the flat form of the conventions.
#[derive(Serialize)]
#[serde(tag = "type", rename = "function")]
pub(super) struct Function<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) parameters: &'a Value,
}
