//! Telling something at the end of a reply, as an event.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Waker},
};

use cepa_core::{
    AgentEvent, Cx, EventKind, Fields, Msg, Next, Reply, ReplyInput, Result,
    serde_json::{self, Value},
};
use serde::{Serialize, de::DeserializeOwned};

/// What is told: `None` where there is nothing to tell any more.
type Told = Box<dyn Fn(&Cx<Reply>) -> Option<Fields> + Send + Sync>;

/// Runs the rest of a reply and tells `value` as a custom event: right before each `REPLY_END`, and where none passes
/// (a pause, an error, a reply that nobody listens to any more) when the call is over.
pub(crate) async fn run_and_tell(
    cx: Cx<Reply>,
    input: ReplyInput,
    next: Next<Reply>,
    name: &'static str,
    value: impl Fn(&Cx<Reply>) -> Option<Fields> + Send + Sync + 'static,
) -> Result<Msg> {
    let telling = Arc::new(Telling { cx, name, value: Box::new(value), told: AtomicBool::new(false) });
    let _latest = AtTheLatest(telling.clone());
    // Shared, as it is shown every piece of text: a third of the cost of a stream.
    next.tap_shared(input, move |event| telling.look(event)).await
}

/// The value as the content of an event.
pub(crate) fn to_fields(value: &impl Serialize) -> Option<Fields> {
    match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => Some(fields.into()),
        _ => None,
    }
}

/// What an event of this name tells.
pub(crate) fn read_event<T: DeserializeOwned>(event: &AgentEvent, event_name: &str) -> Option<T> {
    match &event.kind {
        EventKind::Custom { name, value } if **name == *event_name => {
            serde_json::from_value(Value::Object(value.clone().into())).ok()
        }
        _ => None,
    }
}

struct Telling {
    cx: Cx<Reply>,
    name: &'static str,
    value: Told,
    told: AtomicBool,
}

impl Telling {
    fn look(&self, event: &AgentEvent) {
        match event.kind {
            EventKind::ReplyEnd { .. } => self.tell(),
            // A layer outside has dropped the end, and the reply goes on.
            EventKind::ModelCallStart { .. } => self.told.store(false, Relaxed),
            _ => {}
        }
    }

    fn tell(&self) {
        self.told.store(true, Relaxed);
        if let Some(value) = (self.value)(&self.cx) {
            let event = AgentEvent::new(EventKind::Custom { name: self.name.into(), value });
            // A tap cannot await. Polled once, an event is on its way, before whatever is sent next.
            let mut emit = self.cx.emit(event);
            let _ = Pin::new(&mut emit).poll(&mut Context::from_waker(Waker::noop()));
        }
    }
}

struct AtTheLatest(Arc<Telling>);

impl Drop for AtTheLatest {
    fn drop(&mut self) {
        let telling = &self.0;
        // A reply of which nothing was sent has not begun. Observers are foreign code: none of it during a panic.
        if !telling.told.load(Relaxed) && telling.cx.sent() > 0 && !std::thread::panicking() {
            telling.tell();
        }
    }
}
