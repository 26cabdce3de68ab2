//! From the packets of an answer to chunks, and to the envelope at the end.

use cepa_core::{ChatChunk, ChatResponse, ChatUsage, ContentDelta, Fields, Id};

use super::{
    answer::{Choice, Content, Packet},
    tool_calls::{Nameless, ToolCalls},
    usage::WireUsage,
};

/// An answer, as far as it has come.
#[derive(Debug)]
pub(super) struct Assembly {
    calls: ToolCalls,
    id: Option<String>,
    model: Option<String>,
    usage: Option<WireUsage>,
    finish_reason: Option<String>,
}

impl Assembly {
    /// An answer in a conversation with tool calls of these ids.
    pub(super) fn new(taken: impl IntoIterator<Item = Id>) -> Self {
        Self { calls: ToolCalls::new(taken), id: None, model: None, usage: None, finish_reason: None }
    }

    /// Takes a packet and answers what can be sent of it.
    pub(super) fn take(&mut self, packet: Packet) -> ChatChunk {
        let mut chunk = ChatChunk::default();
        keep(&mut self.id, packet.id.filter(|id| !id.is_empty()));
        keep(&mut self.model, packet.model);
        keep(&mut self.usage, packet.usage);
        for choice in packet.choices.unwrap_or_default() {
            if choice.index.unwrap_or(0) == 0 {
                self.take_choice(choice, &mut chunk);
            }
        }
        chunk
    }

    fn take_choice(&mut self, choice: Choice, chunk: &mut ChatChunk) {
        keep(&mut self.usage, choice.usage);
        keep(&mut self.finish_reason, choice.finish_reason.filter(|reason| !reason.is_empty()));
        let Some(delta) = choice.delta else { return };
        let (text, thinking_part) = delta.content.map(Content::split).unwrap_or_default();
        // Where a server sends both (as gateways do), they say the same.
        let thinking = delta.reasoning_content.or(delta.reasoning).map(|content| content.split().0);
        let thinking = thinking.filter(|thinking| !thinking.is_empty()).unwrap_or(thinking_part);
        if !thinking.is_empty() {
            chunk.push(ContentDelta::Thinking { thinking, id: None, extra: Fields::default() });
        }
        for text in [text, delta.refusal.unwrap_or_default()] {
            if !text.is_empty() {
                chunk.push(ContentDelta::Text { text, id: None });
            }
        }
        for piece in delta.tool_calls.unwrap_or_default() {
            self.calls.take(piece, chunk);
        }
    }

    /// Why the server ended the answer, if it has.
    pub(super) fn finish_reason(&self) -> Option<&str> {
        self.finish_reason.as_deref()
    }

    /// What the server says was spent until now.
    pub(super) fn usage(&self, seconds: f64) -> Option<ChatUsage> {
        self.usage.as_ref().map(|usage| usage.chat(seconds))
    }

    /// The answer is whole: what is still to be sent, and the envelope. `seconds`: how long it took.
    pub(super) fn finish(mut self, seconds: f64) -> Result<(ChatChunk, ChatResponse), Nameless> {
        let rest = self.calls.finish()?;
        let mut response = ChatResponse::streamed().with_usage(self.usage(seconds));
        if let Some(id) = self.id {
            response.id = Id::from(id);
        }
        for (key, value) in [("finish_reason", self.finish_reason), ("server_model", self.model)] {
            if let Some(value) = value {
                response.metadata.insert(key, value);
            }
        }
        Ok((rest, response))
    }
}

/// The latest one counts.
fn keep<T>(place: &mut Option<T>, latest: Option<T>) {
    if latest.is_some() {
        *place = latest;
    }
}
