//! Messages, calls and results as the JSON of the conventions: messages of a role and parts.

use std::sync::Arc;

use cepa_core::{
    ContentBlock, DataBlock, Fields, HintBlock, Msg, OutputBlock, ReplyFinishedReason, Role, Source,
    TextOrBlocks, ToolCallBlock, ToolResponse, ToolResultBlock, ToolSchema,
    serde_json::{self, Map, Value, json},
};

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
        let mut written: Vec<Value> = Vec::with_capacity(messages.len());
        for msg in messages.iter().rev() {
            self.message(msg, &mut written);
        }
        written.reverse();
        Value::Array(written).to_string()
    }

    /// The message of a reply.
    pub(crate) fn message_of_reply(&mut self, msg: &Msg) -> String {
        let mut written = Vec::new();
        self.message(msg, &mut written);
        written.reverse();
        Value::Array(written).to_string()
    }

    /// What a model answered.
    pub(crate) fn answer(&mut self, blocks: &[ContentBlock], finish_reason: &str) -> String {
        let mut parts: Vec<Value> = blocks.iter().rev().filter_map(|block| self.part(block)).collect();
        parts.reverse();
        json!([{"role": "assistant", "parts": parts, "finish_reason": finish_reason}]).to_string()
    }

    /// The arguments of a call.
    pub(crate) fn arguments(&mut self, call: &ToolCallBlock) -> String {
        match self.full {
            // As it is where it is not touched: the spelling of arguments may matter to who looks for a fault.
            Some(full) if call.input.len() <= self.left && full.redacted(&call.input) == call.input => {
                call.input.clone()
            }
            _ => self.input(&call.input).to_string(),
        }
    }

    /// The result of a call.
    pub(crate) fn result(&mut self, call: &ToolCallBlock, response: &ToolResponse) -> String {
        let content = self.output(response.content.blocks());
        let metadata = self.fields(&response.metadata);
        json!({"content": content, "state": response.state, "metadata": metadata, "id": call.id}).to_string()
    }

    /// The result of a call that ran elsewhere.
    pub(crate) fn external_result(&mut self, result: &ToolResultBlock) -> String {
        self.response(&result.output).to_string()
    }

    /// Any text, such as that of an error.
    pub(crate) fn text(&mut self, text: &str) -> String {
        match self.full {
            Some(full) => {
                let text = full.redacted(text);
                self.cut(&text)
            }
            None => format!("{} bytes", text.len()),
        }
    }

    /// Writes a message; behind each other in reverse. Hints are said to the model by the user, so they are messages of
    /// their own.
    fn message(&mut self, msg: &Msg, written: &mut Vec<Value>) {
        let finish_reason = finish_reason(msg);
        let mut parts = Vec::with_capacity(msg.content.len());
        for block in msg.content.iter().rev() {
            if let ContentBlock::Hint(hint) = block {
                self.end_message(msg.role, msg.name.as_ref(), finish_reason, &mut parts, written);
                let mut hint_parts = self.hint(hint);
                hint_parts.reverse();
                let name = hint.source.as_deref().unwrap_or(msg.name.as_ref());
                self.end_message(Role::User, name, "stop", &mut hint_parts, written);
            } else if let Some(part) = self.part(block) {
                parts.push(part);
            }
        }
        self.end_message(msg.role, msg.name.as_ref(), finish_reason, &mut parts, written);
    }

    /// Writes the parts as one message, if there are any.
    fn end_message(
        &self,
        role: Role,
        name: &str,
        finish_reason: &str,
        parts: &mut Vec<Value>,
        written: &mut Vec<Value>,
    ) {
        if parts.is_empty() {
            return;
        }
        let mut parts = std::mem::take(parts);
        parts.reverse();
        written.push(json!({"role": role, "parts": parts, "name": name, "finish_reason": finish_reason}));
    }

    fn part(&mut self, block: &ContentBlock) -> Option<Value> {
        Some(match block {
            ContentBlock::Text(block) => self.text_part("text", &block.text),
            ContentBlock::Thinking(block) => self.text_part("reasoning", &block.thinking),
            ContentBlock::ToolCall(call) => {
                let arguments = self.input(&call.input);
                json!({"type": "tool_call", "id": call.id, "name": &*call.name, "arguments": arguments})
            }
            ContentBlock::ToolResult(result) => {
                let response = self.response(&result.output);
                json!({"type": "tool_call_response", "id": result.id, "response": response})
            }
            ContentBlock::Data(block) => self.data(block),
            _ => return None,
        })
    }

    fn text_part(&mut self, kind: &str, text: &str) -> Value {
        match self.full {
            Some(_) => json!({"type": kind, "content": self.text(text)}),
            None => json!({"type": kind, "length": text.len()}),
        }
    }

    fn hint(&mut self, hint: &HintBlock) -> Vec<Value> {
        match &hint.hint {
            TextOrBlocks::Text(text) => vec![self.text_part("text", text)],
            TextOrBlocks::Blocks(blocks) => {
                let parts = blocks.iter().filter_map(|block| match block {
                    OutputBlock::Text(block) => Some(self.text_part("text", &block.text)),
                    OutputBlock::Data(block) => Some(self.data(block)),
                    _ => None,
                });
                parts.collect()
            }
        }
    }

    fn data(&mut self, block: &DataBlock) -> Value {
        let media_type = block.media_type();
        let kind = media_type.split('/').next().unwrap_or_default();
        let modality = if ["image", "audio", "video"].contains(&kind) { kind } else { "unknown" };
        match (&block.source, self.full) {
            (Source::Url { url, .. }, Some(_)) => {
                json!({"type": "uri", "uri": self.text(url), "modality": modality})
            }
            (Source::Base64 { data, .. }, Some(_)) if self.fits(data) => {
                json!({"type": "blob", "content": data, "media_type": media_type, "modality": modality})
            }
            (Source::Base64 { data: content, .. } | Source::Url { url: content, .. }, _) => {
                json!({"type": "blob", "length": content.len(), "media_type": media_type, "modality": modality})
            }
            _ => json!({"type": "blob", "media_type": media_type, "modality": modality}),
        }
    }

    /// Arguments as the model wrote them: JSON as such where it is some, else a text.
    fn input(&mut self, input: &str) -> Value {
        if self.full.is_none() {
            return json!({"length": input.len()});
        }
        match serde_json::from_str(input) {
            Ok(mut value) => {
                self.strings(&mut value);
                value
            }
            Err(_) => Value::String(self.text(input)),
        }
    }

    fn response(&mut self, output: &TextOrBlocks) -> Value {
        match (output, self.full) {
            (TextOrBlocks::Text(text), Some(_)) => Value::String(self.text(text)),
            (TextOrBlocks::Text(text), None) => json!({"length": text.len()}),
            (TextOrBlocks::Blocks(blocks), _) => Value::Array(self.output(blocks)),
        }
    }

    fn output(&mut self, blocks: &[OutputBlock]) -> Vec<Value> {
        let mut written: Vec<Value> =
            blocks.iter().rev().filter_map(|block| self.output_block(block)).collect();
        written.reverse();
        written
    }

    /// A block of a result: as it is in messages, as AgentScope 2.0.11 writes it too.
    fn output_block(&mut self, block: &OutputBlock) -> Option<Value> {
        Some(match (block, self.full) {
            (OutputBlock::Text(block), None) => json!({"type": "text", "length": block.text.len()}),
            (OutputBlock::Text(block), Some(_)) => {
                let text = self.text(&block.text);
                let (begun, ended) = (&block.created_at, &block.finished_at);
                json!({"type": "text", "text": text, "id": block.id, "created_at": begun, "finished_at": ended})
            }
            (OutputBlock::Data(block), None) => self.data(block),
            (OutputBlock::Data(block), Some(_)) => {
                let name = block.name.as_ref().map(|name| self.text(name));
                let source = self.source(&block.source);
                let (begun, ended) = (&block.created_at, &block.finished_at);
                json!({
                    "type": "data",
                    "id": block.id,
                    "source": source,
                    "name": name,
                    "created_at": begun,
                    "finished_at": ended,
                })
            }
            _ => return None,
        })
    }

    fn source(&mut self, source: &Source) -> Value {
        let media_type = source.media_type();
        match source {
            Source::Url { url, .. } => {
                json!({"type": "url", "url": self.text(url), "media_type": media_type})
            }
            Source::Base64 { data, .. } if self.fits(data) => {
                json!({"type": "base64", "data": data, "media_type": media_type})
            }
            Source::Base64 { data, .. } => {
                json!({"type": "base64", "length": data.len(), "media_type": media_type})
            }
            _ => json!({"media_type": media_type}),
        }
    }

    fn fields(&mut self, fields: &Fields) -> Value {
        let mut map: Map<String, Value> =
            fields.iter().map(|(key, value)| (key.to_owned(), value.clone())).collect();
        if self.full.is_some() {
            map.values_mut().for_each(|value| self.strings(value));
        } else {
            map.values_mut().for_each(|value| *value = json!({"length": value.to_string().len()}));
        }
        Value::Object(map)
    }

    /// Redacts and cuts each string of a value.
    fn strings(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.strings(item)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.strings(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Whether there is room for data, which nothing can be cut from; it takes the room.
    fn fits(&mut self, data: &str) -> bool {
        let left = self.left.checked_sub(data.len());
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// As much of a text as there is room for, and how much is missing.
    fn cut(&mut self, text: &str) -> String {
        let written = cut(text, self.left);
        self.left -= text.len().min(self.left);
        written
    }
}

/// The tools, in the flat form of the conventions. What tools do is no content: it is the program's own.
pub(crate) fn tool_definitions(tools: &[ToolSchema]) -> String {
    let tools = tools.iter().map(|tool| {
        json!({
            "type": "function",
            "name": &**tool.name(),
            "description": tool.description(),
            "parameters": tool.parameters(),
        })
    });
    Value::Array(tools.collect()).to_string()
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
