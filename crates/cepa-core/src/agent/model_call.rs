//! The middle of `on_model_call`, and model calls that the agent or a layer makes for itself.

use std::sync::Arc;

use super::{
    context,
    scope::{Layers, Offered, ReplyScope},
};
use crate::{
    chain::{AgentHook, BoxFuture, Core, Cx, Frame, Listed, ModelCall, Outlet, Tap},
    error::{Error, ErrorKind, Result},
    message::Usage,
    model::{ChatChunk, ChatResponse, FinishedReason, ModelOutlet, ModelRequest, Purpose, ResponseFold},
};

impl Core<ModelCall> for ReplyScope {
    fn run(
        self: Arc<Self>,
        cx: Cx<ModelCall>,
        request: ModelRequest,
    ) -> BoxFuture<'static, Result<ChatResponse>> {
        Box::pin(async move {
            let model = request.model.clone().unwrap_or_else(|| self.definition.model.clone());
            if request.purpose == Purpose::Chat {
                let offered = Offered { tools: request.tools.clone(), choice: request.tool_choice.clone() };
                self.run_state().offered = Some(offered);
            }
            let reported = cx.frame().reported();
            // An attempt before this one has told what it cost by its error.
            reported.set(None);
            let out = ModelOutlet::new(cx.outlet().clone(), reported.clone());
            let mut response = tokio::select! {
                biased;
                () = self.interrupted() => {
                    ChatResponse::interrupted()
                }
                result = model.call(request, out.clone()) => {
                    result.map_err(|error| error.at_model().with_usage(reported.take()))?
                }
            };
            out.complete(&mut response);
            response.model.get_or_insert_with(|| model.name().into());
            Ok(response)
        })
    }
}

impl ReplyScope {
    /// A model call that is no step of the reply: it goes through `on_model_call` with a purpose, nothing of it is an
    /// event, and what it costs belongs to the reply.
    pub(super) async fn call_model(
        self: &Arc<Self>,
        layers: Layers,
        mut request: ModelRequest,
    ) -> Result<ChatResponse> {
        request.model.get_or_insert_with(|| self.definition.model.clone());
        let (tap, fold) = Tap::folding(|fold: &mut ResponseFold, chunk: &ChatChunk| fold.add(chunk));
        let chain = self.chain_of::<ModelCall>(layers, Outlet::unheard(Some(tap)), request);
        let mut pays = PaysIfCutOff::new(self, chain.frame.clone());
        let result = chain.or_interrupt(self).await.ok_or(ErrorKind::Interrupted)?;
        pays.done();
        let mut response = result.inspect_err(|error| self.add_usage_of_failed(error))?;
        response.content.put(fold.take().into_blocks(), false);
        if let Some(usage) = &response.usage {
            self.add_usage(Usage::from(usage))?;
        }
        if response.finished_reason == FinishedReason::Interrupted {
            return Err(ErrorKind::Interrupted.into());
        }
        Ok(response)
    }

    /// Adds what a failed attempt had spent: it is paid for like any other.
    pub(super) fn add_usage_of_failed(&self, error: &Error) {
        if let Some(usage) = error.usage()
            && let Err(error) = self.add_usage(Usage::from(usage))
        {
            tracing::warn!(%error, "what a failed model call has spent is not kept");
        }
    }

    /// Adds what was spent to the reply's message, or to what is added to it when it is begun.
    fn add_usage(&self, usage: Usage) -> Result<()> {
        let begun = self.coming().is_none();
        let mut state = self.state()?;
        match context::reply_message_mut(&mut state, &self.definition.name) {
            // Before it is begun, the message at hand is still the one of the reply before.
            Some(msg) if begun => Arc::make_mut(msg).add_usage(usage),
            _ => *self.run_state().unplaced_usage.get_or_insert_default() += usage,
        }
        Ok(())
    }
}

/// Adds what a call has spent that does not end by itself: its reader, or the layer that made it, is gone.
pub(super) struct PaysIfCutOff<'a> {
    scope: &'a ReplyScope,
    frame: Option<Arc<Frame<ModelCall>>>,
}

impl<'a> PaysIfCutOff<'a> {
    pub(super) fn new(scope: &'a ReplyScope, frame: Arc<Frame<ModelCall>>) -> Self {
        Self { scope, frame: Some(frame) }
    }

    /// It has ended, and its response or error tells what it cost.
    pub(super) fn done(&mut self) {
        self.frame = None;
    }
}

impl Drop for PaysIfCutOff<'_> {
    fn drop(&mut self) {
        let usage = self.frame.take().and_then(|frame| frame.reported().get());
        if let Some(usage) = usage
            && let Err(error) = self.scope.add_usage(Usage::from(&usage))
        {
            tracing::warn!(%error, "what a model call that was cut off has spent is not kept");
        }
    }
}

impl<H: AgentHook> Cx<H> {
    /// Asks a model on the layer's own account: routing, reranking, choosing memories, summing up.
    ///
    /// The call goes through the `on_model_call` of the other layers, so that budgets, limits and traces see it, with
    /// `purpose` set. Nothing of it is an event of the reply; what it costs belongs to the reply. The response holds
    /// the whole content. Without a model in the request the agent's own is asked.
    ///
    /// # Errors
    /// Those of the model and of the other layers, and *interrupted*.
    pub async fn call_model(&self, purpose: Purpose, request: ModelRequest) -> Result<ChatResponse> {
        self.scope().call_model(self.others(), request.with_purpose(purpose)).await
    }

    /// The layers that a model call of this layer's own goes through: not the layer itself, and inside of another such
    /// call not the layer that made that one. So two layers that both ask a model never ask each other for ever.
    pub(super) fn others(&self) -> Layers {
        let layers = if H::INDEX == ModelCall::INDEX {
            &self.frame().layers
        } else {
            self.scope().definition.layers::<ModelCall>()
        };
        match self.listed() {
            None => layers.clone(),
            Some(own) => {
                let others = layers.iter().filter(|listed| listed.position != own.position);
                others.map(Listed::clone_entry).collect()
            }
        }
    }
}
