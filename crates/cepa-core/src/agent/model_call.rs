//! The middle of `on_model_call`, and model calls that the agent or a layer makes for itself.

use std::sync::Arc;

use super::{
    context,
    scope::{Chain, Layers, Offered, ReplyScope},
};
use crate::{
    chain::{AgentHook, BoxFuture, Core, Cx, Frame, Listed, Meter, ModelCall, Next, Outlet, Tap},
    error::{ErrorKind, Result},
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
            let out = ModelOutlet::new(cx.outlet().clone(), cx.begin_request());
            let mut response = tokio::select! {
                biased;
                () = self.interrupted() => {
                    ChatResponse::interrupted()
                }
                result = model.call(request, out.clone()) => {
                    result.map_err(|error| out.failed(error.at_model()))?
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
        let (frame, next, meter) = self.model_chain(layers, Outlet::unheard(Some(tap)));
        let chain = Chain { frame, running: next.run(request) };
        let mut account = Account::open(self, meter);
        let result = chain.or_interrupt(self).await.ok_or(ErrorKind::Interrupted)?;
        account.settle(&result);
        let mut response = result?;
        response.content.put(fold.take().into_blocks(), false);
        if response.finished_reason == FinishedReason::Interrupted {
            return Err(ErrorKind::Interrupted.into());
        }
        Ok(response)
    }

    /// The chain of a model call through these layers, and what it spends.
    pub(super) fn model_chain(
        self: &Arc<Self>,
        layers: Layers,
        out: Outlet<ChatChunk>,
    ) -> (Arc<Frame<ModelCall>>, Next<ModelCall>, Meter) {
        let frame = Frame::new(self.clone(), self.clone(), layers);
        let (next, meter) = Next::root(frame.clone(), out).metered();
        (frame, next, meter)
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

/// What a model call spends, which the reply pays: once it has ended, or was cut off because its reader, or the layer that
/// made it, is gone.
pub(super) struct Account<'a> {
    scope: &'a ReplyScope,
    meter: Option<Meter>,
}

impl<'a> Account<'a> {
    pub(super) fn open(scope: &'a ReplyScope, meter: Meter) -> Self {
        Self { scope, meter: Some(meter) }
    }

    /// The call has ended: pays what its response or its error tells, and what was given up on the way.
    pub(super) fn settle(&mut self, result: &Result<ChatResponse>) {
        let told = match result {
            Ok(response) => response.usage.as_ref(),
            Err(error) => error.usage(),
        };
        let given_up = self.meter.take().map(|meter| meter.given_up()).unwrap_or_default();
        self.pay(told.map(Usage::from).into_iter().chain(given_up.into_iter().flatten()));
    }

    fn pay(&self, usages: impl IntoIterator<Item = Usage>) {
        for usage in usages {
            if let Err(error) = self.scope.add_usage(usage) {
                tracing::warn!(%error, "what a model call has spent is not kept");
            }
        }
    }
}

impl Drop for Account<'_> {
    fn drop(&mut self) {
        if let Some(meter) = self.meter.take() {
            self.pay(meter.all().into_iter().flatten());
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
