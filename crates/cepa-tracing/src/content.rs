//! Messages, calls and results as the JSON of the conventions: messages of a role and parts.

mod json;

use std::{borrow::Cow, sync::Arc};

use cepa_core::{
    ContentBlock, DataBlock, Fields, HintBlock, Msg, OutputBlock, ReplyFinishedReason, Role, Source,
    TextOrBlocks, ToolCallBlock, ToolResponse, ToolResultBlock, ToolSchema,
    serde_json::{self, Value, value::RawValue},
};
use serde::Serialize;

use self::json::{Function, Json, Made, Message, Metadata, Output, Part, Said};
use crate::capture::{Capture, Full, Level, cut};

/// Writes content as far as it may be captured.
///
/// Written from the end, so that where there is too much of it the newest is kept.
pub(crate) struct Writer<'a> {
    full: Option<&'a Full>,
    /// Bytes that may still be written.
    left: usize,
}

impl<'a> Writer<'a> {
    /// For one attribute. `None` where nothing is captured.
    pub(crate) fn new(capture: &'a Capture) -> Option<Self> {
        match &capture.0 {
            Level::Off => None,
            Level::Lengths => Some(Self { full: None, left: usize::MAX }),
            Level::Full(full) => Some(Self { full: Some(full), left: full.max_bytes }),
        }
    }

    /// Messages, those of a reply that is over with why it ended.
    pub(crate) fn messages(&mut self, messages: &[Arc<Msg>]) -> String {
        self.in_order(messages.iter().map(|msg| &**msg))
    }

    /// The message of a reply.
    pub(crate) fn message_of_reply(&mut self, msg: &Msg) -> String {
        self.in_order([msg].into_iter())
    }

    fn in_order<'m>(&mut self, messages: impl DoubleEndedIterator<Item = &'m Msg>) -> String {
        let mut written = Vec::new();
        for msg in messages.rev() {
            self.message(msg, &mut written);
        }
        written.reverse();
        text_of(&written)
    }

    /// What a model answered.
    pub(crate) fn answer(&mut self, blocks: &[ContentBlock], finish_reason: &str) -> String {
        let mut parts: Vec<Part<'_>> = blocks.iter().rev().filter_map(|block| self.part(block)).collect();
        parts.reverse();
        text_of(&[Message { role: Role::Assistant, parts, name: None, finish_reason }])
    }

    /// The arguments of a call.
    pub(crate) fn arguments(&mut self, call: &ToolCallBlock) -> String {
        // As it is where it is not touched: the spelling of arguments may matter to who looks for a fault.
        if self.full.is_some_and(Full::is_plain) && self.fits(&call.input) {
            return call.input.clone();
        }
        text_of(&self.input(&call.input))
    }

    /// The result of a call.
    pub(crate) fn result(&mut self, call: &ToolCallBlock, response: &ToolResponse) -> String {
        let content = self.output(response.content.blocks());
        let metadata = self.metadata(&response.metadata);
        text_of(&json::Result { content, state: response.state, metadata, id: &call.id })
    }

    /// The result of a call that ran elsewhere.
    pub(crate) fn external_result(&mut self, result: &ToolResultBlock) -> String {
        text_of(&self.response(&result.output))
    }

    /// Any text, such as that of an error.
    pub(crate) fn text<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        match self.full {
            Some(full) => self.cut(full.redacted(text)),
            None => Cow::Owned(format!("{} bytes", text.len())),
        }
    }

    /// Writes a message; behind each other in reverse. Hints are said to the model by the user, so they are messages of
    /// their own.
    fn message<'m>(&mut self, msg: &'m Msg, written: &mut Vec<Message<'m>>) {
        let finish_reason = finish_reason(msg);
        let mut parts = Vec::with_capacity(msg.content.len());
        for block in msg.content.iter().rev() {
            if let ContentBlock::Hint(hint) = block {
                end_message(msg.role, &msg.name, finish_reason, &mut parts, written);
                let name = hint.source.as_deref().unwrap_or(&msg.name);
                end_message(Role::User, name, "stop", &mut self.hint(hint), written);
            } else {
                parts.extend(self.part(block));
            }
        }
        end_message(msg.role, &msg.name, finish_reason, &mut parts, written);
    }

    fn part<'m>(&mut self, block: &'m ContentBlock) -> Option<Part<'m>> {
        Some(match block {
            ContentBlock::Text(block) => Part::Text(self.said(&block.text)),
            ContentBlock::Thinking(block) => Part::Reasoning(self.said(&block.thinking)),
            ContentBlock::ToolCall(call) => {
                Part::ToolCall { id: &call.id, name: &call.name, arguments: self.input(&call.input) }
            }
            ContentBlock::ToolResult(result) => {
                Part::ToolCallResponse { id: &result.id, response: self.response(&result.output) }
            }
            ContentBlock::Data(block) => self.data(block),
            _ => return None,
        })
    }

    fn said<'m>(&mut self, text: &'m str) -> Said<'m> {
        match self.full {
            Some(_) => Said::Content(self.text(text)),
            None => Said::Length(text.len()),
        }
    }

    /// The parts of a hint, from the end.
    fn hint<'m>(&mut self, hint: &'m HintBlock) -> Vec<Part<'m>> {
        match &hint.hint {
            TextOrBlocks::Text(text) => vec![Part::Text(self.said(text))],
            TextOrBlocks::Blocks(blocks) => {
                let parts = blocks.iter().rev().filter_map(|block| match block {
                    OutputBlock::Text(block) => Some(Part::Text(self.said(&block.text))),
                    OutputBlock::Data(block) => Some(self.data(block)),
                    _ => None,
                });
                parts.collect()
            }
        }
    }

    fn data<'m>(&mut self, block: &'m DataBlock) -> Part<'m> {
        let media_type = block.media_type();
        let kind = media_type.split('/').next().unwrap_or_default();
        let modality =
            ["image", "audio", "video"].into_iter().find(|known| *known == kind).unwrap_or("unknown");
        let content = match (&block.source, self.full) {
            (Source::Url { url, .. }, Some(_)) => return Part::Uri { uri: self.text(url), modality },
            (Source::Base64 { data, .. }, Some(_)) if self.fits(data) => Said::Content(Cow::Borrowed(data)),
            (Source::Base64 { data: content, .. } | Source::Url { url: content, .. }, _) => {
                Said::Length(content.len())
            }
            _ => Said::Length(0),
        };
        Part::Blob { content, media_type, modality }
    }

    /// Arguments as the model wrote them: JSON as such where it is some, else a text.
    fn input<'m>(&mut self, input: &'m str) -> Json<'m> {
        let Some(full) = self.full else { return Json::Length { length: input.len() } };
        if full.is_plain()
            && input.len() <= self.left
            && let Ok(raw) = serde_json::from_str::<&RawValue>(input)
        {
            self.left -= input.len();
            return Json::Raw(raw);
        }
        match serde_json::from_str(input) {
            Ok(mut value) => {
                self.strings(&mut value);
                Json::Value(value)
            }
            Err(_) => Json::Text(self.text(input)),
        }
    }

    fn response<'m>(&mut self, output: &'m TextOrBlocks) -> Json<'m> {
        match (output, self.full) {
            (TextOrBlocks::Text(text), Some(_)) => Json::Text(self.text(text)),
            (TextOrBlocks::Text(text), None) => Json::Length { length: text.len() },
            (TextOrBlocks::Blocks(blocks), _) => Json::Output(self.output(blocks)),
        }
    }

    fn output<'m>(&mut self, blocks: &'m [OutputBlock]) -> Vec<Output<'m>> {
        let mut written: Vec<_> = blocks.iter().rev().filter_map(|block| self.output_block(block)).collect();
        written.reverse();
        written
    }

    fn output_block<'m>(&mut self, block: &'m OutputBlock) -> Option<Output<'m>> {
        Some(match (block, self.full) {
            (OutputBlock::Text(block), None) => Output::Other(Part::Text(Said::Length(block.text.len()))),
            (OutputBlock::Text(block), Some(_)) => {
                let (created_at, finished_at) = (&block.created_at, &block.finished_at);
                let made = Made { id: &block.id, created_at, finished_at };
                Output::Text { text: self.text(&block.text), made }
            }
            (OutputBlock::Data(block), None) => Output::Other(self.data(block)),
            (OutputBlock::Data(block), Some(_)) => {
                let name = block.name.as_ref().map(|name| self.text(name));
                let (created_at, finished_at) = (&block.created_at, &block.finished_at);
                let made = Made { id: &block.id, created_at, finished_at };
                Output::Data { source: self.source(&block.source), name, made }
            }
            _ => return None,
        })
    }

    fn source<'m>(&mut self, source: &'m Source) -> json::Source<'m> {
        let media_type = source.media_type();
        match source {
            Source::Url { url, .. } => json::Source::Url { url: self.text(url), media_type },
            Source::Base64 { data, .. } if self.fits(data) => {
                json::Source::Base64 { data: Some(data), length: None, media_type }
            }
            Source::Base64 { data, .. } => {
                json::Source::Base64 { data: None, length: Some(data.len()), media_type }
            }
            _ => json::Source::Base64 { data: None, length: None, media_type },
        }
    }

    fn metadata<'m>(&mut self, fields: &'m Fields) -> Metadata<'m> {
        if fields.is_empty() {
            return Metadata::Whole(fields);
        }
        let entries = fields.iter().map(|(key, value)| {
            let value = match self.full {
                Some(_) => {
                    let mut value = value.clone();
                    self.strings(&mut value);
                    value
                }
                None => serde_json::json!({"length": value.to_string().len()}),
            };
            (key.to_owned(), value)
        });
        Metadata::Changed(Value::Object(entries.collect()))
    }

    /// Redacts and cuts each string of a value.
    fn strings(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text).into_owned(),
            Value::Array(items) => items.iter_mut().for_each(|item| self.strings(item)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.strings(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Whether there is room for something that nothing can be cut from; it takes the room.
    fn fits(&mut self, whole: &str) -> bool {
        let left = self.left.checked_sub(whole.len());
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// As much of a text as there is room for, and how much is missing.
    fn cut<'t>(&mut self, text: Cow<'t, str>) -> Cow<'t, str> {
        if self.fits(&text) {
            return text;
        }
        Cow::Owned(cut(&text, std::mem::take(&mut self.left)))
    }
}

/// Writes the parts, which are in reverse, as one message, if there are any.
fn end_message<'m>(
    role: Role,
    name: &'m str,
    finish_reason: &'m str,
    parts: &mut Vec<Part<'m>>,
    written: &mut Vec<Message<'m>>,
) {
    if parts.is_empty() {
        return;
    }
    let mut parts = std::mem::take(parts);
    parts.reverse();
    written.push(Message { role, parts, name: Some(name), finish_reason });
}

/// The tools that are offered. What tools do is no content: it is the program's own.
pub(crate) fn tool_definitions(tools: &[ToolSchema]) -> String {
    let functions = tools.iter().map(|tool| Function {
        name: tool.name(),
        description: tool.description(),
        parameters: tool.parameters(),
    });
    text_of(&functions.collect::<Vec<_>>())
}

fn text_of<T: Serialize + ?Sized>(value: &T) -> String {
    // Nothing in it can fail: all keys are texts.
    serde_json::to_string(value).unwrap_or_default()
}

/// Why a message ended, in the words of the conventions. The last answer of a reply that had no more rounds is whole: it
/// ended as others do.
fn finish_reason(msg: &Msg) -> &'static str {
    match msg.finished_reason {
        Some(ReplyFinishedReason::Interrupted) => "interrupted",
        Some(ReplyFinishedReason::Error) => "error",
        _ => "stop",
    }
}
