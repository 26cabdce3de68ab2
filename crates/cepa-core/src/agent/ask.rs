//! Asking the model: attempts and fallback, and taking in what it streams.

use std::{pin::pin, sync::Arc};

use super::{
    block_events::BlockEvents,
    context,
    emit::Events,
    model_call::Account,
    scope::{Patience, ReplyScope, Waited},
};
use crate::{
    chain::{ModelCall, Outlet},
    error::{Error, Origin, Result},
    event::{AgentEvent, EventKind},
    fields::Fields,
    id::Id,
    message::ContentBlock,
    model::{ChatChunk, ChatModel, ChatResponse, ChatUsage, ContentDelta, ModelRequest, ResponseFold},
    tool::read_object,
};

impl ReplyScope {
    /// One model call as the user sees it: attempts and fallback are inside of it.
    pub(super) async fn ask(
        self: &Arc<Self>,
        events: &Events,
        model: &Arc<dyn ChatModel>,
        request: &ModelRequest,
    ) -> Result<Answer> {
        let primary: Arc<str> = model.name().into();
        events.emit(EventKind::ModelCallStart { reply_id: events.id(), model_name: primary.clone() }).await;
        let answer = self.attempt_all(events, model, request).await?;
        let usage = answer.response.usage.clone().unwrap_or_else(|| ChatUsage::new(0, 0, 0.0));
        let end = AgentEvent::new(EventKind::ModelCallEnd {
            reply_id: events.id(),
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_input_tokens: usage.cache_input_tokens,
            cache_creation_input_tokens: usage.cache_creation_input_tokens,
            finished_reason: answer.response.finished_reason,
        });
        let other = answer.response.model.as_ref().filter(|model| **model != primary);
        let mut metadata = Fields::new();
        if let Some(model) = other {
            metadata.insert("model_name", model.to_string());
        }
        events.emit_event(end.with_metadata(metadata)).await;
        Ok(answer)
    }

    async fn attempt_all(
        self: &Arc<Self>,
        events: &Events,
        model: &Arc<dyn ChatModel>,
        request: &ModelRequest,
    ) -> Result<Answer> {
        let models = std::iter::once(model).chain(&self.definition.fallback_model);
        let mut last = None;
        for model in models {
            for attempt in 0..=self.definition.model_retries {
                match self.attempt(events, request.clone().with_model(model.clone())).await {
                    Ok(answer) => return Ok(answer),
                    Err(Failed { error, shown: true }) => return Err(error),
                    Err(Failed { error, .. }) if error.origin() != Origin::Model => return Err(error),
                    Err(Failed { error, .. }) => {
                        let (model, of) = (model.name(), self.definition.model_retries + 1);
                        tracing::warn!(model, attempt = attempt + 1, of, %error, "model call failed");
                        last = Some(error);
                    }
                }
            }
        }
        Err(last.unwrap_or_else(Error::polled_after_end))
    }

    /// One attempt: goes through `on_model_call` and turns what comes out into events and blocks.
    async fn attempt(self: &Arc<Self>, events: &Events, request: ModelRequest) -> Result<Answer, Failed> {
        let layers = self.definition.layers::<ModelCall>().clone();
        let (frame, next, meter) = self.model_chain(layers, Outlet::unheard(None));
        let mut items = next.stream(request);
        let mut account = Account::open(self, meter);
        let interrupted = pin!(self.interrupted());
        let mut patience = Patience::new(self, interrupted);
        let mut intake = Intake::new(self);
        let response = loop {
            match patience.next(&frame, &mut items).await {
                Waited::Item(mut chunk) => {
                    intake.take(&mut chunk, events).await;
                    items.recycle(chunk);
                }
                Waited::End => {
                    let result = items.finish().await;
                    // At once: its reader may leave with whatever is sent from here on.
                    account.settle(&result);
                    break Some(result);
                }
                Waited::GivenUp => break None,
            }
        };
        intake.open.end_all(events).await;
        let shown = !intake.fold.is_empty();
        let response = match response {
            Some(Ok(response)) => response,
            Some(Err(error)) => return Err(Failed { error, shown }),
            // A layer waited outside of `next` when the reply was interrupted.
            None => ChatResponse::interrupted(),
        };
        Ok(Answer { blocks: intake.fold.into_blocks(), response })
    }
}

/// What one model call brought.
pub(super) struct Answer {
    pub(super) blocks: Vec<ContentBlock>,
    pub(super) response: ChatResponse,
}

impl Answer {
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.iter().all(|block| match block {
            ContentBlock::Text(block) => block.text.is_empty(),
            _ => false,
        })
    }
}

/// A failed attempt, and whether the user has seen anything of it.
struct Failed {
    error: Error,
    shown: bool,
}

/// Takes chunks in: gives each new call an id of its own, adds the deltas up, and sends their events.
struct Intake<'a> {
    scope: &'a ReplyScope,
    open: BlockEvents,
    fold: ResponseFold,
    /// The ids that the model used, and those that its calls got.
    ids: Vec<(Id, Id)>,
}

impl<'a> Intake<'a> {
    fn new(scope: &'a ReplyScope) -> Self {
        Self { scope, open: BlockEvents::default(), fold: ResponseFold::default(), ids: Vec::new() }
    }

    async fn take(&mut self, chunk: &mut ChatChunk, events: &Events) {
        if chunk.is_empty() {
            return;
        }
        for delta in chunk.deltas_mut() {
            if let ContentDelta::ToolCall { id, name, .. } = delta {
                *id = self.own_id(id, name);
            }
        }
        self.fold.add(chunk);
        self.open.send(chunk, events).await;
    }

    /// Servers repeat ids, or send none. Each call gets one that no other call of the context has, so that it has
    /// exactly one result.
    fn own_id(&mut self, id: &Id, name: &str) -> Id {
        let known = self.ids.iter().rev().find(|(theirs, _)| theirs == id);
        if let Some((_, ours)) = known
            && !self.begins_again(id, name, ours)
        {
            return ours.clone();
        }
        let ours = if id.is_empty() || self.is_taken(id) { Id::new() } else { id.clone() };
        self.ids.push((id.clone(), ours.clone()));
        ours
    }

    /// Whether a call of this answer or of the context has this id.
    fn is_taken(&self, id: &Id) -> bool {
        self.ids.iter().any(|(_, ours)| ours == id)
            || self.scope.state().is_ok_and(|state| context::is_call_id_taken(&state, id))
    }

    /// Whether a delta of a known id is the beginning of another call: it has a name, and the known call is over. Some
    /// servers repeat the name in every delta.
    fn begins_again(&self, id: &Id, name: &str, ours: &Id) -> bool {
        !name.is_empty()
            && (id.is_empty()
                || !self.open.has_call(ours)
                    && self.fold.call(ours).is_some_and(|call| read_object(&call.input).is_ok()))
    }
}
