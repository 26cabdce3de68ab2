//! The layers of a case: test layers that write the trace, and the built-in ones.

mod behaviour;
pub(crate) mod builtin;
mod counter;
mod drop_events;
mod every_hook;
mod inject_event;
mod options;
mod raise;
mod retry;
mod rewrite;
mod saw;
mod short_circuit;
mod step;
mod swallow_reply_end;
mod traced;

use std::sync::Arc;

use cepa_core::Middleware;

pub(crate) use self::rewrite::instructions;

use self::{
    behaviour::{Behaviour, Recorder},
    builtin::BuiltinLayer,
    options::Options,
    traced::TracedLayer,
};
use crate::{case::LayerSpec, error::RunError, world::World};

/// A layer of a case.
pub(crate) enum Layer {
    /// One of this runner's.
    Test(Arc<dyn Middleware>),
    /// One of the library's.
    Builtin(Box<dyn BuiltinLayer>),
}

impl Layer {
    /// The layer that the case describes.
    ///
    /// # Errors
    /// A kind that is not known, or an option that cannot be read.
    pub(crate) fn new(spec: &LayerSpec, world: &World) -> Result<Self, RunError> {
        let options = Options::new(spec);
        let behaviour: Arc<dyn Behaviour> = match spec.kind.as_str() {
            "recorder" => Arc::new(Recorder),
            "counter" => Arc::new(counter::Counter),
            "drop_events" => Arc::new(drop_events::DropEvents::new(&options)?),
            "inject_event" => Arc::new(inject_event::InjectEvent::new(&options)?),
            "raise" => Arc::new(raise::Raise::new(&options)?),
            "retry" => Arc::new(retry::Retry::new(&options)?),
            "rewrite" => Arc::new(rewrite::Rewrite::new(&options, world)?),
            "short_circuit" => Arc::new(short_circuit::ShortCircuit::new(&options)?),
            "swallow_reply_end" => Arc::new(swallow_reply_end::SwallowReplyEnd::new(&options)?),
            kind => return Ok(Self::Builtin(builtin::build(kind, spec, world)?)),
        };
        Ok(Self::Test(Arc::new(TracedLayer::new(spec, options.hooks()?, behaviour, &world.log))))
    }

    /// The layer as an agent takes it.
    pub(crate) fn middleware(&self) -> Arc<dyn Middleware> {
        match self {
            Self::Test(layer) => layer.clone(),
            Self::Builtin(layer) => layer.middleware(),
        }
    }

    /// Waits for what the layer does in the background.
    pub(crate) async fn flush(&self) {
        if let Self::Builtin(layer) = self {
            layer.flush().await;
        }
    }
}
