//! Sending the events of a reply.

use crate::{
    chain::{Cx, Outlet, Streams},
    event::{AgentEvent, DataDelta, EventKind},
    id::Id,
    message::{OutputBlock, Source},
};

/// Where the events of one reply go, with the id they carry.
#[derive(Clone)]
pub(super) struct Events {
    out: Outlet<AgentEvent>,
    pub(super) reply_id: Id,
    /// Several calls send at once: each goes on without waiting for its events to be read.
    side_by_side: bool,
}

impl Events {
    pub(super) fn new<H: Streams<Item = AgentEvent>>(cx: &Cx<H>, reply_id: Id) -> Self {
        Self::to(cx.outlet().clone(), reply_id)
    }

    /// Events that go out here.
    pub(super) fn to(out: Outlet<AgentEvent>, reply_id: Id) -> Self {
        Self { out, reply_id, side_by_side: false }
    }

    /// The same, for calls that run side by side.
    pub(super) fn side_by_side(&self) -> Self {
        Self { side_by_side: true, ..self.clone() }
    }

    pub(super) fn emit(&self, kind: EventKind) -> impl Future<Output = ()> {
        self.emit_event(AgentEvent::new(kind))
    }

    // The event is boxed before there is a future: in an `async fn` each one on the way would move all of it.
    pub(super) fn emit_event(&self, event: AgentEvent) -> impl Future<Output = ()> {
        let (emit, side_by_side) = (self.out.emit(event), self.side_by_side);
        async move {
            if side_by_side {
                emit.posted().await;
            } else {
                emit.await;
            }
        }
    }

    pub(super) fn id(&self) -> Id {
        self.reply_id.clone()
    }

    pub(super) fn outlet(&self) -> &Outlet<AgentEvent> {
        &self.out
    }

    pub(super) async fn tool_text(&self, call: &Id, delta: impl Into<String>) {
        let (reply_id, tool_call_id) = (self.id(), call.clone());
        self.emit(EventKind::ToolResultTextDelta { reply_id, tool_call_id, delta: delta.into() }).await;
    }

    /// Sends a piece of a tool's output.
    pub(super) async fn tool_output(&self, call: &Id, block: &OutputBlock) {
        match block {
            OutputBlock::Text(block) => self.tool_text(call, block.text.clone()).await,
            OutputBlock::Data(block) => {
                let (reply_id, tool_call_id, block_id) = (self.id(), call.clone(), block.id.clone());
                let (media_type, delta) = data_delta(&block.source);
                let kind =
                    EventKind::ToolResultDataDelta { reply_id, tool_call_id, block_id, media_type, delta };
                self.emit(kind).await;
            }
        }
    }
}

pub(super) fn data_delta(source: &Source) -> (std::sync::Arc<str>, DataDelta) {
    match source {
        Source::Base64 { data, media_type, .. } => (media_type.clone(), DataDelta::Base64(data.clone())),
        Source::Url { url, media_type, .. } => (media_type.clone(), DataDelta::Url(url.clone())),
    }
}
