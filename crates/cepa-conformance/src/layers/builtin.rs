//! The library's own layers, by the kind that the cases call them.
//!
//! Another one is one function in a file of its own and one line in [`KINDS`].

mod agentic_memory;
mod budget;
mod mem0;
mod model_router;
mod rag;
mod reme;
mod tracing;
mod tts;

use std::{future::ready, sync::Arc};

use cepa_core::{BoxFuture, Middleware};

use crate::{case::LayerSpec, error::RunError, world::World};

/// A built-in layer with its fakes.
pub(crate) trait BuiltinLayer: Send + Sync {
    /// The layer as an agent takes it.
    fn middleware(&self) -> Arc<dyn Middleware>;

    /// Waits for what the layer does in the background, such as memory writes.
    fn flush(&self) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }
}

/// A layer that does nothing in the background.
impl<M: Middleware> BuiltinLayer for Arc<M> {
    fn middleware(&self) -> Arc<dyn Middleware> {
        self.clone()
    }
}

/// Makes a layer from what the case says of it. Fakes write to [`World::log`].
type Build = fn(&LayerSpec, &World) -> Result<Box<dyn BuiltinLayer>, RunError>;

/// The kinds there are.
const KINDS: &[(&str, Build)] = &[
    ("agentic_memory", agentic_memory::build),
    ("budget", budget::build),
    ("mem0", mem0::build),
    ("model_router", model_router::build),
    ("rag", rag::build),
    ("reme", reme::build),
    ("tracing", tracing::build),
    ("tts", tts::build),
];

/// The built-in layer of this kind.
pub(super) fn build(kind: &str, spec: &LayerSpec, world: &World) -> Result<Box<dyn BuiltinLayer>, RunError> {
    match KINDS.iter().find(|(known, _)| *known == kind) {
        Some((_, build)) => build(spec, world),
        None => Err(RunError::not_supported(format!("layer of kind {kind}"))),
    }
}
