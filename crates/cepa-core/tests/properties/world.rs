//! What a case's model, tools and layers share while it runs.

use std::{
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
};

use super::script::{Layer, Script};

/// What a case's model, tools and layers share while it runs. Everything that runs holds it: when nothing does, only
/// the agent's own parts are left to count.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) script: Script,
    /// From now on everybody behaves well.
    pub(crate) calm: AtomicBool,
    requests: AtomicUsize,
    ids: AtomicUsize,
    layer_calls: Mutex<Vec<u8>>,
    violations: Mutex<Vec<String>>,
}

impl World {
    pub(crate) fn new(script: Script) -> Arc<Self> {
        Arc::new(Self {
            script,
            calm: AtomicBool::new(false),
            requests: AtomicUsize::new(0),
            ids: AtomicUsize::new(0),
            layer_calls: Mutex::default(),
            violations: Mutex::default(),
        })
    }

    /// Back to the beginning of the script.
    pub(crate) fn reset(&self) {
        self.calm.store(false, Relaxed);
        self.requests.store(0, Relaxed);
        self.ids.store(0, Relaxed);
        *self.layer_calls.lock().unwrap() = vec![0; self.script.layers.len()];
        self.violations.lock().unwrap().clear();
    }

    /// The number of this chat request.
    pub(crate) fn next_request(&self) -> usize {
        self.requests.fetch_add(1, Relaxed)
    }

    /// An id that no call had before.
    pub(crate) fn next_id(&self) -> String {
        format!("c{}", self.ids.fetch_add(1, Relaxed))
    }

    /// Whether the layer at this place does in this call what it does.
    pub(crate) fn takes_part(&self, place: usize, layer: Layer) -> bool {
        let mut calls = self.layer_calls.lock().unwrap();
        let call = calls[place];
        calls[place] = call.saturating_add(1);
        !self.calm.load(Relaxed) && call >= layer.skips && call - layer.skips < layer.times
    }

    /// Notes something that must not be.
    pub(crate) fn violation(&self, what: String) {
        self.violations.lock().unwrap().push(what);
    }

    pub(crate) fn take_violations(&self) -> Vec<String> {
        std::mem::take(&mut self.violations.lock().unwrap())
    }
}

/// Keeps the world busy while this runs, so that it is seen when it does not end.
pub(crate) async fn busy<F: Future>(world: Arc<World>, work: F) -> F::Output {
    let result = work.await;
    drop(world);
    result
}
