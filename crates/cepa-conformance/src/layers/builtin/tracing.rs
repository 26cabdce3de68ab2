//! Spans of replies, model calls and tools.

use std::sync::Arc;

use cepa_tracing::{Capture, TracingMiddleware};

use super::BuiltinLayer;
use crate::{case::LayerSpec, error::RunError, world::World};

pub(super) fn build(_spec: &LayerSpec, world: &World) -> Result<Box<dyn BuiltinLayer>, RunError> {
    world.spans.listen();
    Ok(Box::new(Arc::new(TracingMiddleware::new().capture(Capture::full()))))
}
