//! One call of a hook of a test layer, in the trace.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use serde_json::{Value, json};

use crate::log::Log;

/// Writes when the layer is entered, left, and dropped before it was left.
#[derive(Clone)]
pub(super) struct Step(Arc<Inner>);

struct Inner {
    log: Log,
    label: Arc<str>,
    hook: &'static str,
    over: AtomicBool,
}

impl Step {
    /// The layer is entered with this input.
    pub(super) fn enter(log: &Log, label: &Arc<str>, hook: &'static str, saw: Value) -> Self {
        log.trace(json!({"mw": &**label, "hook": hook, "at": "enter", "saw": saw}));
        Self(Arc::new(Inner { log: log.clone(), label: label.clone(), hook, over: AtomicBool::new(false) }))
    }

    /// Writes something that happened inside.
    pub(super) fn note(&self, at: &str) {
        self.note_with(at, json!({}));
    }

    /// As [`note`](Self::note), with further fields.
    pub(super) fn note_with(&self, at: &str, mut more: Value) {
        more["mw"] = (*self.0.label).into();
        more["hook"] = self.0.hook.into();
        more["at"] = at.into();
        self.0.log.trace(more);
    }

    /// The last thing that is written of this step.
    pub(super) fn end_with(&self, at: &str) {
        if !self.0.over.swap(true, Relaxed) {
            self.note(at);
        }
    }

    /// Nothing more is written of this step.
    pub(super) fn end_silently(&self) {
        self.0.over.store(true, Relaxed);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if !*self.over.get_mut() {
            self.log.trace(json!({"mw": &*self.label, "hook": self.hook, "at": "closed"}));
        }
    }
}
