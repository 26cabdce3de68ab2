//! A reply without its loop: what the chain's own tests wrap their layers around.

use std::sync::Arc;

use super::{Agent, ReplyScope};
use crate::{
    chain::{AgentHook, BoxFuture, Core, Frame},
    error::Result,
    middleware::Middleware,
    model::{ChatModel, ChatResponse, ModelOutlet, ModelRequest},
    state::AgentState,
};

/// A model that no test of the chain asks.
#[derive(Debug)]
struct Unasked;

impl ChatModel for Unasked {
    fn name(&self) -> &str {
        "unasked"
    }

    fn call(&self, _request: ModelRequest, _out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
        Box::pin(std::future::pending())
    }
}

impl ReplyScope {
    /// The scope of a reply of an agent with these layers and this state.
    pub(crate) fn for_tests(layers: &[Arc<dyn Middleware>], state: AgentState) -> Arc<Self> {
        let builder = Agent::builder("tested").model(Unasked).state(state);
        let builder = layers.iter().cloned().fold(builder, |builder, layer| builder.middleware(layer));
        builder.build().expect("the layers fit together").scope()
    }

    /// A call of a hook with this core.
    pub(crate) fn frame<H: AgentHook>(self: &Arc<Self>, core: Arc<dyn Core<H>>) -> Arc<Frame<H>> {
        Frame::new(self.clone(), core, self.definition.layers::<H>().clone())
    }

    /// Ends the reply.
    pub(crate) fn end_for_tests(&self) {
        self.close();
    }
}
