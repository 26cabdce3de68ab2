//! What the scripted parts saw, in one order.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

/// Written by models, tools, layers and fakes; read after each call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Entries>>);

/// What was written since the last reading.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    /// One order of what models, tools and layers did.
    pub(crate) trace: Vec<Value>,
    /// What models were asked.
    pub(crate) requests: Vec<Value>,
    /// Calls made to fakes of the outside world.
    pub(crate) backend: Vec<Value>,
}

impl Log {
    pub(crate) fn trace(&self, step: Value) {
        self.with(|entries| entries.trace.push(step));
    }

    pub(crate) fn request(&self, request: Value) {
        self.with(|entries| entries.requests.push(request));
    }

    pub(crate) fn backend(&self, call: Value) {
        self.with(|entries| entries.backend.push(call));
    }

    /// Takes what was written.
    pub(crate) fn take(&self) -> Entries {
        self.with(std::mem::take)
    }

    fn with<R>(&self, act: impl FnOnce(&mut Entries) -> R) -> R {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
