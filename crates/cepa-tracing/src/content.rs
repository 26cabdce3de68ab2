//! Messages, calls and results as the JSON of the conventions: messages of a role and parts.

mod json;
mod parts;
mod redact;
mod room;
mod turn;

use std::sync::Arc;

use cepa_core::{ContentBlock, Msg, ToolCallBlock, ToolResponse, ToolResultBlock, ToolSchema, serde_json};
use serde::Serialize;

use self::{
    json::{Definition, Json, Message},
    room::Room,
    turn::Turn,
};
use crate::capture::Capture;

/// Writes the content of one attribute, as far as it may be captured and as there is room for it.
///
/// Lists are written from the end, so that where there is too much the newest is kept.
pub(crate) struct Writer<'a> {
    capture: &'a Capture,
    room: Room,
}

impl<'a> Writer<'a> {
    /// `None` where nothing is captured.
    pub(crate) fn new(capture: &'a Capture) -> Option<Self> {
        (!capture.is_off()).then(|| Self { capture, room: Room::new(capture.limit()) })
    }

    /// Messages, those of a reply that is over with why it ended.
    pub(crate) fn messages(&mut self, messages: &[Arc<Msg>]) -> String {
        self.turns(messages.iter().flat_map(|msg| Turn::of(msg)).collect())
    }

    /// The message of a reply.
    pub(crate) fn message_of_reply(&mut self, msg: &Msg) -> String {
        self.turns(Turn::of(msg).collect())
    }

    /// What a model answered.
    pub(crate) fn answer(&mut self, blocks: &[ContentBlock], finish_reason: &str) -> String {
        self.turns(vec![Turn::answer(blocks, finish_reason)])
    }

    /// The arguments of a call.
    pub(crate) fn arguments(&mut self, call: &ToolCallBlock) -> String {
        // As it is where it is not touched: the spelling of arguments may matter to who looks for a fault.
        if self.capture.is_plain() && self.room.takes_as_it_is(&call.input) {
            return call.input.clone();
        }
        let arguments = self.input(&call.input);
        text_of(&self.fitting(arguments))
    }

    /// The result of a call.
    pub(crate) fn result(&mut self, call: &ToolCallBlock, response: &ToolResponse) -> String {
        let (state, id) = (response.state, &call.id);
        let frame = json::Result { content: Vec::new(), state, metadata: Json::Length { length: 0 }, id };
        if !self.room.takes(&frame) {
            return text_of(&Json::Length { length: response.output_text().len() });
        }
        let content = self.output(response.content.blocks());
        let content = self.fitting_output(content);
        let mut metadata = self.metadata(&response.metadata);
        if !self.room.takes(&metadata) {
            metadata = Json::Length { length: text_of(&response.metadata).len() };
        }
        text_of(&json::Result { content, state, metadata, id })
    }

    /// The result of a call that ran elsewhere.
    pub(crate) fn external_result(&mut self, result: &ToolResultBlock) -> String {
        let response = self.response(&result.output);
        text_of(&self.fitting(response))
    }

    /// The tools that are offered, the first that there is room for. What tools do is no content: it is the program's own.
    pub(crate) fn tool_definitions(&mut self, tools: &[ToolSchema]) -> String {
        let mut written = Vec::with_capacity(tools.len());
        for (at, tool) in tools.iter().enumerate() {
            let tool = Definition::Function {
                name: tool.name(),
                description: tool.description(),
                parameters: tool.parameters(),
            };
            if !self.room.takes(&tool) {
                written.push(Definition::LeftOut {
                    name: format!("[{} more tools left out]", tools.len() - at),
                });
                break;
            }
            written.push(tool);
        }
        text_of(&written)
    }

    fn turns(&mut self, turns: Vec<Turn<'_>>) -> String {
        text_of(&self.newest(turns, Self::message, Message::left_out))
    }

    fn message<'m>(&mut self, turn: Turn<'m>) -> Option<Message<'m>> {
        let name = turn.name.map(|name| self.capture.redacted(name));
        let frame = Message { role: turn.role, parts: Vec::new(), name, finish_reason: turn.finish_reason };
        if !self.room.takes(&frame) {
            return None;
        }
        let parts = self.newest(turn.bits, Self::part, json::Part::left_out);
        Some(Message { parts, ..frame })
    }

    /// The last ones that there is room for, in their order, behind a note of how many are missing.
    fn newest<T, W>(
        &mut self,
        mut items: Vec<T>,
        write: impl Fn(&mut Self, T) -> Option<W>,
        note: impl FnOnce(usize) -> W,
    ) -> Vec<W> {
        let mut written = Vec::new();
        while let Some(item) = items.pop() {
            let Some(item) = write(self, item) else {
                // Nor for anything before it: what is told is what there was at the end, without gaps.
                self.room.close();
                written.push(note(items.len() + 1));
                break;
            };
            written.push(item);
        }
        written.reverse();
        written
    }
}

fn text_of<T: Serialize + ?Sized>(value: &T) -> String {
    // Nothing in it can fail: all keys are texts.
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests;
