//! A model call while it runs, and what it costs however it ends.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use cepa_core::{
    ChatChunk, ChatModel, ChatResponse, ContentDelta, Cx, FinishedReason, Meter, ModelCall, ModelRequest,
    Msg, Result, ToolSchema, Usage, estimate_tokens,
};

use crate::{
    middleware::{Per, ReplyBudgetControlMiddleware},
    spent::Spent,
};

/// A model call that runs. Dropped before it has ended, nobody reads the reply any more.
pub(crate) struct Call<'a> {
    layer: &'a ReplyBudgetControlMiddleware,
    cx: &'a Cx<ModelCall>,
    model: Arc<dyn ChatModel>,
    messages: Vec<Arc<Msg>>,
    tools: Arc<[ToolSchema]>,
    /// Bytes of text that came.
    pub(crate) bytes: Arc<AtomicUsize>,
    meter: Meter,
    ended: bool,
}

impl<'a> Call<'a> {
    pub(crate) fn new(
        layer: &'a ReplyBudgetControlMiddleware,
        cx: &'a Cx<ModelCall>,
        request: &ModelRequest,
        meter: Meter,
    ) -> Self {
        let model = request.model.clone().unwrap_or_else(|| cx.model().clone());
        let (messages, tools) = (request.messages.clone(), request.tools.clone());
        Self { layer, cx, model, messages, tools, bytes: Arc::default(), meter, ended: false }
    }

    pub(crate) fn end(mut self, result: &Result<ChatResponse>) -> Result<()> {
        self.ended = true;
        let told = match result {
            Ok(response) => response.usage.as_ref(),
            Err(error) => error.usage(),
        };
        let cost = match (told.map(Usage::from), result) {
            (Some(usage), _) => self.reported(&usage),
            // What failed without a word of its cost is free.
            (None, Err(_)) => 0.0,
            (None, Ok(response)) if response.finished_reason != FinishedReason::Interrupted => {
                self.layer.warn_once(self.model.name());
                self.estimated()
            }
            // The reply ends, and with it its budget.
            (None, Ok(_)) if self.layer.per == Per::Reply => 0.0,
            (None, Ok(_)) => self.estimated(),
        };
        self.pay(cost + self.cut_off(&self.meter.given_up()))
    }

    fn reported(&self, usage: &Usage) -> f64 {
        self.layer.cost(usage.input_tokens, usage.output_tokens)
    }

    fn estimated(&self) -> f64 {
        let output_tokens = (self.bytes.load(Relaxed) as u64).div_ceil(4);
        self.layer.cost(estimate_tokens(&self.messages, &self.tools), output_tokens)
    }

    /// What requests cost that were given up on their way.
    fn cut_off(&self, requests: &[Option<Usage>]) -> f64 {
        let cost = |usage: &Option<Usage>| {
            usage.as_ref().map_or_else(|| self.estimated(), |usage| self.reported(usage))
        };
        requests.iter().map(cost).sum()
    }

    fn pay(&self, cost: f64) -> Result<()> {
        let account = self.layer.account(&self.cx.reply_id()?);
        self.cx.my_state().update(|spent: &mut Spent| spent.add(&account, cost))
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let cost = self.cut_off(&self.meter.all());
        if cost == 0.0 {
            return;
        }
        if let Err(error) = self.pay(cost) {
            tracing::warn!(model = self.model.name(), %error, "a model call that was cut off is not counted");
        }
    }
}

/// Bytes of a chunk's texts.
pub(crate) fn size(chunk: &ChatChunk) -> usize {
    let sizes = chunk.deltas().iter().map(|delta| match delta {
        ContentDelta::Text { text, .. } => text.len(),
        ContentDelta::Thinking { thinking, .. } => thinking.len(),
        ContentDelta::ToolCall { input, .. } => input.len(),
        _ => 0,
    });
    sizes.sum()
}
