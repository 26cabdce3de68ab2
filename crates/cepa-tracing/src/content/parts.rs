//! The parts of messages: what they say, and what is said of them where there is no room.

use std::borrow::Cow;

use cepa_core::{
    DataBlock, Fields, OutputBlock, Source, TextOrBlocks,
    serde_json::{self, Value, value::RawValue},
};
use serde::Serialize;

use super::{
    Writer,
    json::{self, Json, Made, Output, Part, Said},
    redact::redact,
    turn::Bit,
};

impl Writer<'_> {
    /// A part, or as much of it as there is room for.
    pub(super) fn part<'m>(&mut self, bit: Bit<'m>) -> Option<Part<'m>> {
        let part = match bit {
            Bit::Text(text) => Part::Text(self.said(text)),
            Bit::Thinking(text) => Part::Reasoning(self.said(text)),
            Bit::Call(call) => {
                let (name, arguments) = (self.capture.redacted(&call.name), self.input(&call.input));
                Part::ToolCall { id: &call.id, name, arguments }
            }
            Bit::Result(result) => {
                Part::ToolCallResponse { id: &result.id, response: self.response(&result.output) }
            }
            Bit::Data(block) => self.data(block),
        };
        if self.room.takes(&part) { Some(part) } else { self.short(part) }
    }

    /// Arguments as the model wrote them: JSON as such where it is some, else a text.
    pub(super) fn input<'m>(&self, input: &'m str) -> Json<'m> {
        if !self.capture.is_full() {
            return Json::Length { length: input.len() };
        }
        if self.capture.is_plain() {
            return match serde_json::from_str::<&RawValue>(input) {
                Ok(raw) => Json::Raw(raw),
                Err(_) => Json::Text(input.into()),
            };
        }
        match serde_json::from_str(input) {
            Ok(mut value) => {
                redact(self.capture, &mut value);
                Json::Value(value)
            }
            Err(_) => Json::Text(self.capture.redacted(input)),
        }
    }

    /// The output of a tool.
    pub(super) fn response<'m>(&self, output: &'m TextOrBlocks) -> Json<'m> {
        match output {
            TextOrBlocks::Text(text) if self.capture.is_full() => Json::Text(self.capture.redacted(text)),
            TextOrBlocks::Text(text) => Json::Length { length: text.len() },
            TextOrBlocks::Blocks(blocks) => Json::Output(self.output(blocks)),
        }
    }

    pub(super) fn output<'m>(&self, blocks: &'m [OutputBlock]) -> Vec<Output<'m>> {
        blocks.iter().filter_map(|block| self.output_block(block)).collect()
    }

    /// What a tool tells the program.
    pub(super) fn metadata<'m>(&self, fields: &'m Fields) -> Json<'m> {
        if fields.is_empty() || self.capture.is_plain() {
            return Json::Fields(fields);
        }
        let mut value =
            Value::Object(fields.iter().map(|(key, value)| (key.to_owned(), value.clone())).collect());
        if !self.capture.is_full() {
            return Json::Length { length: value.to_string().len() };
        }
        redact(self.capture, &mut value);
        Json::Value(value)
    }

    /// As much of arguments or of a result as there is room for: of JSON, its first bytes as a text.
    pub(super) fn fitting<'m>(&mut self, json: Json<'m>) -> Json<'m> {
        let text = match json {
            Json::Output(blocks) => return Json::Output(self.fitting_output(blocks)),
            Json::Length { .. } => return json,
            json if self.room.takes(&json) => return json,
            Json::Text(text) => text,
            Json::Raw(raw) => raw.get().into(),
            Json::Value(value) => value.to_string().into(),
            Json::Fields(fields) => super::text_of(fields).into(),
        };
        Json::Text(self.room.head(text))
    }

    pub(super) fn fitting_output<'m>(&mut self, blocks: Vec<Output<'m>>) -> Vec<Output<'m>> {
        match self.room.takes(&blocks) {
            true => blocks,
            false => self.newest(blocks, Self::short_output, Output::left_out),
        }
    }

    fn said<'m>(&self, text: &'m str) -> Said<'m> {
        match self.capture.is_full() {
            true => Said::Content(self.capture.redacted(text)),
            false => Said::Length(text.len()),
        }
    }

    fn data<'m>(&self, block: &'m DataBlock) -> Part<'m> {
        let media_type = block.media_type();
        let kind = media_type.split('/').next().unwrap_or_default();
        let modality =
            ["image", "audio", "video"].into_iter().find(|known| *known == kind).unwrap_or("unknown");
        let content = match &block.source {
            Source::Url { url, .. } if self.capture.is_full() => {
                return Part::Uri { uri: self.capture.redacted(url), modality };
            }
            Source::Base64 { data, .. } if self.capture.is_plain() => Said::Content(data.into()),
            Source::Base64 { data: content, .. } | Source::Url { url: content, .. } => {
                Said::Length(content.len())
            }
            _ => Said::Length(0),
        };
        Part::Blob { content, media_type, modality }
    }

    fn output_block<'m>(&self, block: &'m OutputBlock) -> Option<Output<'m>> {
        let is_full = self.capture.is_full();
        Some(match block {
            OutputBlock::Text(block) if is_full => {
                let (created_at, finished_at) = (&block.created_at, &block.finished_at);
                let made = Made { id: &block.id, created_at, finished_at };
                Output::Text { text: self.capture.redacted(&block.text), made }
            }
            OutputBlock::Text(block) => Output::Other(Part::Text(self.said(&block.text))),
            OutputBlock::Data(block) if is_full => {
                let (created_at, finished_at) = (&block.created_at, &block.finished_at);
                let made = Made { id: &block.id, created_at, finished_at };
                let name = block.name.as_deref().map(|name| self.capture.redacted(name));
                Output::Data { source: self.source(&block.source), name, made }
            }
            OutputBlock::Data(block) => Output::Other(self.data(block)),
            _ => return None,
        })
    }

    fn source<'m>(&self, source: &'m Source) -> json::Source<'m> {
        let media_type = source.media_type();
        match source {
            Source::Url { url, .. } => json::Source::Url { url: self.capture.redacted(url), media_type },
            Source::Base64 { data, .. } if self.capture.is_plain() => {
                json::Source::Base64 { data: Some(data), length: None, media_type }
            }
            Source::Base64 { data, .. } => {
                json::Source::Base64 { data: None, length: Some(data.len()), media_type }
            }
            _ => json::Source::Base64 { data: None, length: None, media_type },
        }
    }

    /// What can be said of a part that there is no room for.
    fn short<'m>(&mut self, part: Part<'m>) -> Option<Part<'m>> {
        Some(match part {
            Part::Text(Said::Content(text)) => self.cut(text, |text| Part::Text(Said::Content(text)))?,
            Part::Reasoning(Said::Content(text)) => {
                self.cut(text, |text| Part::Reasoning(Said::Content(text)))?
            }
            Part::Uri { uri, modality } => self.cut(uri, |uri| Part::Uri { uri, modality })?,
            Part::ToolCall { id, name, arguments } => {
                let frame = Part::ToolCall { id, name: name.clone(), arguments: Json::Text("".into()) };
                self.room.takes(&frame).then(|| Part::ToolCall {
                    id,
                    name,
                    arguments: self.fitting(arguments),
                })?
            }
            Part::ToolCallResponse { id, response } => {
                let frame = Part::ToolCallResponse { id, response: Json::Text("".into()) };
                self.room
                    .takes(&frame)
                    .then(|| Part::ToolCallResponse { id, response: self.fitting(response) })?
            }
            Part::Blob { content: Said::Content(data), media_type, modality } => {
                let length = Part::Blob { content: Said::Length(data.len()), media_type, modality };
                self.room.takes(&length).then_some(length)?
            }
            _ => return None,
        })
    }

    /// A block of a result, or as much of it as there is room for.
    fn short_output<'m>(&mut self, block: Output<'m>) -> Option<Output<'m>> {
        if self.room.takes(&block) {
            return Some(block);
        }
        match block {
            Output::Text { text, made } => self.cut(text, |text| Output::Text { text, made }),
            Output::Data {
                source: json::Source::Base64 { data: Some(data), media_type, .. },
                name,
                made,
            } => {
                let source = json::Source::Base64 { data: None, length: Some(data.len()), media_type };
                let length = Output::Data { source, name, made };
                self.room.takes(&length).then_some(length)
            }
            Output::Data { source: json::Source::Url { url, media_type }, name, made } => {
                self.cut(url, |url| Output::Data {
                    source: json::Source::Url { url, media_type },
                    name: name.clone(),
                    made,
                })
            }
            _ => None,
        }
    }

    /// What is made of a text, with as much of it as there is room for.
    fn cut<'m, T: Serialize>(&mut self, text: Cow<'m, str>, make: impl Fn(Cow<'m, str>) -> T) -> Option<T> {
        self.room.takes(&make("".into())).then(|| make(self.room.head(text)))
    }
}
