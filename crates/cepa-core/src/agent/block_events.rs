//! Turning a model's chunks into the events of blocks that begin, grow and end.

use std::mem;

use smallvec::SmallVec;

use super::emit::{Events, data_delta};
use crate::{
    event::EventKind,
    id::Id,
    message::{DataBlock, Source},
    model::{ChatChunk, ContentDelta},
};

/// The blocks that are open in the stream of one model call.
///
/// As in AgentScope 2.0.11: thinking comes before text of the same chunk; a block that a chunk does not go on with
/// ends, but for data, which text flows around.
#[derive(Default)]
pub(super) struct BlockEvents {
    text: Option<Id>,
    thinking: Option<Id>,
    calls: SmallVec<[Id; 2]>,
    /// Calls that have ended. One that goes on all the same does not begin again.
    ended_calls: SmallVec<[Id; 2]>,
    data: SmallVec<[Id; 1]>,
}

impl BlockEvents {
    /// Sends the events of a chunk, whose content is taken out.
    ///
    /// Runs for every piece of an answer, most of which are one piece of text that goes on: what such a piece does not
    /// need is asked for before a future is made of it.
    pub(super) async fn send(&mut self, chunk: &mut ChatChunk, events: &Events) {
        let (mut text, mut thinking, mut has_data, mut has_calls) = (None, None, false, false);
        for delta in chunk.deltas_mut() {
            match delta {
                ContentDelta::Text { text: piece, .. } => join(&mut text, piece),
                ContentDelta::Thinking { thinking: piece, .. } => join(&mut thinking, piece),
                ContentDelta::ToolCall { .. } => has_calls = true,
                ContentDelta::Data(_) => has_data = true,
            }
        }
        match thinking {
            Some(delta) => self.thinking_delta(delta, events).await,
            None if self.thinking.is_some() && !has_data => self.end_thinking(events).await,
            None => {}
        }
        match text {
            Some(delta) => self.text_delta(delta, events).await,
            None if self.text.is_some() && !has_data => self.end_text(events).await,
            None => {}
        }
        if has_calls || !self.calls.is_empty() {
            self.call_deltas(chunk, events).await;
        }
        if has_data {
            for delta in chunk.deltas() {
                if let ContentDelta::Data(block) = delta {
                    self.data_delta(block, events).await;
                }
            }
        }
    }

    /// Whether the call's block is open.
    pub(super) fn has_call(&self, id: &Id) -> bool {
        self.calls.contains(id)
    }

    /// Ends every open block.
    pub(super) async fn end_all(&mut self, events: &Events) {
        self.end_text(events).await;
        self.end_thinking(events).await;
        self.end_calls_but(&[], events).await;
        for block_id in self.data.drain(..) {
            events.emit(EventKind::DataBlockEnd { reply_id: events.id(), block_id }).await;
        }
    }

    async fn text_delta(&mut self, delta: String, events: &Events) {
        let block_id = match &self.text {
            Some(open) => open.clone(),
            None => {
                let block_id = self.text.insert(Id::new()).clone();
                events
                    .emit(EventKind::TextBlockStart { reply_id: events.id(), block_id: block_id.clone() })
                    .await;
                block_id
            }
        };
        events.emit(EventKind::TextBlockDelta { reply_id: events.id(), block_id, delta }).await;
    }

    async fn end_text(&mut self, events: &Events) {
        if let Some(block_id) = self.text.take() {
            events.emit(EventKind::TextBlockEnd { reply_id: events.id(), block_id, text: None }).await;
        }
    }

    async fn thinking_delta(&mut self, delta: String, events: &Events) {
        let block_id = match &self.thinking {
            Some(open) => open.clone(),
            None => {
                let block_id = self.thinking.insert(Id::new()).clone();
                events
                    .emit(EventKind::ThinkingBlockStart { reply_id: events.id(), block_id: block_id.clone() })
                    .await;
                block_id
            }
        };
        events.emit(EventKind::ThinkingBlockDelta { reply_id: events.id(), block_id, delta }).await;
    }

    async fn end_thinking(&mut self, events: &Events) {
        if let Some(block_id) = self.thinking.take() {
            events.emit(EventKind::ThinkingBlockEnd { reply_id: events.id(), block_id }).await;
        }
    }

    async fn call_deltas(&mut self, chunk: &mut ChatChunk, events: &Events) {
        let mut gone_on = SmallVec::<[Id; 2]>::new();
        for delta in chunk.deltas_mut() {
            let ContentDelta::ToolCall { id, name, input } = delta else { continue };
            if !self.calls.contains(id) {
                self.calls.push(id.clone());
                if !self.ended_calls.contains(id) {
                    let (reply_id, tool_call_id) = (events.id(), id.clone());
                    let tool_call_name = name.clone();
                    events.emit(EventKind::ToolCallStart { reply_id, tool_call_id, tool_call_name }).await;
                }
            }
            gone_on.push(id.clone());
            let (reply_id, tool_call_id, delta) = (events.id(), id.clone(), mem::take(input));
            events.emit(EventKind::ToolCallDelta { reply_id, tool_call_id, delta }).await;
        }
        self.end_calls_but(&gone_on, events).await;
    }

    async fn end_calls_but(&mut self, gone_on: &[Id], events: &Events) {
        let mut at = 0;
        while at < self.calls.len() {
            if gone_on.contains(&self.calls[at]) {
                at += 1;
                continue;
            }
            let tool_call_id = self.calls.remove(at);
            if !self.ended_calls.contains(&tool_call_id) {
                self.ended_calls.push(tool_call_id.clone());
            }
            events.emit(EventKind::ToolCallEnd { reply_id: events.id(), tool_call_id }).await;
        }
    }

    async fn data_delta(&mut self, block: &DataBlock, events: &Events) {
        // What a URL points to does not stream.
        if matches!(block.source, Source::Url { .. }) {
            return;
        }
        let (media_type, delta) = data_delta(&block.source);
        if !self.data.contains(&block.id) {
            self.data.push(block.id.clone());
            let (reply_id, block_id, media_type) = (events.id(), block.id.clone(), media_type.clone());
            events
                .emit(EventKind::DataBlockStart { reply_id, block_id, media_type, name: block.name.clone() })
                .await;
        }
        let (reply_id, block_id) = (events.id(), block.id.clone());
        events.emit(EventKind::DataBlockDelta { reply_id, block_id, media_type, delta }).await;
    }
}

fn join(all: &mut Option<String>, piece: &mut String) {
    match all {
        Some(all) => all.push_str(piece),
        None => *all = Some(mem::take(piece)),
    }
}
