//! Collecting the spans below replies.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Instant, SystemTime},
};

use cepa_core::serde_json::Value;
use tracing::{
    Level, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{
    layer::Context,
    registry::{LookupSpan, SpanRef},
};

use super::tree::{Event, Fields, Node, Tree};
use crate::{capture::cut, events::may_be_told, names};

/// How much of a reply is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) spans: usize,
    /// In all spans together.
    pub(crate) events: usize,
    /// Bytes of one value.
    pub(crate) value_bytes: usize,
    /// Bytes of all values together; short ones are kept in any case.
    pub(crate) bytes: usize,
}

/// How much of a name is kept; a value that is no longer is kept whatever else there is, as it may be how a span ended.
const SHORT_BYTES: usize = 256;

/// What a span of an agent says when it ends.
const ENDS: [&str; 2] = ["otel.status_code", names::CANCELLED];

/// Collects the spans below each reply. They are kept with the spans themselves, and go with them: nothing is left of a
/// reply whose spans are closed.
#[derive(Debug)]
pub(crate) struct Collector {
    /// Tells it from others at the same registry.
    id: usize,
    limits: Limits,
    pub(crate) level: Level,
}

/// Where a span is kept, by each collector.
#[derive(Debug, Default)]
struct Places(Vec<(usize, Place)>);

#[derive(Clone, Debug)]
struct Place {
    reply: Arc<Mutex<Growing>>,
    /// `None` where there was no room for it.
    at: Option<usize>,
}

/// A reply that goes on.
#[derive(Debug)]
struct Growing {
    began: Instant,
    tree: Tree,
    limits: Limits,
    /// It was shown; whatever goes on in its spans is no part of it.
    is_shown: bool,
}

impl Collector {
    pub(crate) fn new(limits: Limits) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        Self { id: NEXT.fetch_add(1, Relaxed), limits, level: Level::INFO }
    }

    pub(crate) fn open<S>(&self, attributes: &Attributes<'_>, id: &Id, cx: &Context<'_, S>)
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let metadata = attributes.metadata();
        if !self.wants(metadata) {
            return;
        }
        let Some(span) = cx.span(id) else { return };
        let (reply, parent) = match self.place_around(span.parent()) {
            Some(place) => (place.reply, place.at),
            None if is_reply(metadata) => (Arc::new(Mutex::new(Growing::new(self.limits))), None),
            None => return,
        };
        let values = self.values(|visit| attributes.record(visit));
        let at = lock(&reply).open(parent, metadata, values);
        let mut extensions = span.extensions_mut();
        if extensions.get_mut::<Places>().is_none() {
            extensions.insert(Places::default());
        }
        if let Some(places) = extensions.get_mut::<Places>() {
            places.0.push((self.id, Place { reply, at }));
        }
    }

    /// Returns the reply's spans when they are complete: a reply's span says how it ended when it ends. It may be held open
    /// for longer by what was left behind in it.
    pub(crate) fn record<S>(&self, id: &Id, values: &Record<'_>, cx: &Context<'_, S>) -> Option<Tree>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let span = cx.span(id)?;
        let Place { reply, at: Some(at) } = self.place(&span)? else { return None };
        let values = self.values(|visit| values.record(visit));
        let ends = span.metadata().target() == "cepa_tracing"
            && values.fields.iter().any(|(name, _)| ENDS.contains(name));
        let mut reply = lock(&reply);
        reply.record(at, values);
        if ends { reply.close(at) } else { None }
    }

    pub(crate) fn event<S>(&self, event: &tracing::Event<'_>, cx: &Context<'_, S>)
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        if self.wants(event.metadata())
            && let Some(place) = self.place_around(cx.event_span(event))
        {
            let mut values = self.values(|visit| event.record(visit));
            let target = event.metadata().target();
            values.fields.retain(|(name, value)| !value.is_string() || may_be_told(target, name));
            lock(&place.reply).event(place.at, event.metadata(), values);
        }
    }

    /// Returns the reply's spans when they are complete.
    pub(crate) fn close<S>(&self, id: &Id, cx: &Context<'_, S>) -> Option<Tree>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let place = cx.span(id).and_then(|span| self.place(&span))?;
        lock(&place.reply).close(place.at?)
    }

    /// Takes values, before anything is locked: how they are written is up to the program, which may make spans and
    /// events of its own there.
    fn values(&self, record: impl FnOnce(&mut Values)) -> Values {
        let mut values = Values { max_bytes: self.limits.value_bytes, name: None, fields: Vec::new() };
        record(&mut values);
        values
    }

    fn wants(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.level || metadata.target().starts_with("cepa_tracing")
    }

    fn place<'a, S: LookupSpan<'a>>(&self, span: &SpanRef<'a, S>) -> Option<Place> {
        let extensions = span.extensions();
        let places = extensions.get::<Places>()?;
        places.0.iter().find(|(id, _)| *id == self.id).map(|(_, place)| place.clone())
    }

    /// Where a span is kept, or the nearest one around it.
    fn place_around<'a, S: LookupSpan<'a>>(&self, span: Option<SpanRef<'a, S>>) -> Option<Place> {
        span?.scope().find_map(|span| self.place(&span))
    }
}

/// Not a span of the same name in the program's own code.
fn is_reply(metadata: &Metadata<'_>) -> bool {
    metadata.target() == "cepa_tracing" && metadata.name() == "invoke_agent"
}

fn lock(reply: &Mutex<Growing>) -> MutexGuard<'_, Growing> {
    reply.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Growing {
    fn new(limits: Limits) -> Self {
        let tree = Tree::new(SystemTime::now());
        Self { began: Instant::now(), tree, limits, is_shown: false }
    }

    /// Returns the span's place, if there is one for it.
    fn open(
        &mut self,
        parent: Option<usize>,
        metadata: &'static Metadata<'static>,
        values: Values,
    ) -> Option<usize> {
        let at = self.tree.spans.len();
        if self.is_shown {
            return None;
        }
        // Only the reply's own span is in no other one; that of a span without a place has none either.
        if at >= self.limits.spans || (parent.is_none() && at > 0) {
            self.tree.spans_left_out += 1;
            return None;
        }
        self.tree.spans.push(Node {
            parent,
            name: metadata.name().to_owned(),
            target: metadata.target(),
            start: self.began.elapsed(),
            end: None,
            fields: Fields::default(),
            events: Vec::new(),
        });
        self.record(at, values);
        Some(at)
    }

    fn record(&mut self, at: usize, values: Values) {
        if let Some(node) = self.tree.spans.get_mut(at) {
            if let Some(name) = values.name {
                node.name = name;
            }
            self.limits.keep(values.fields, &mut node.fields);
        }
    }

    fn event(&mut self, at: Option<usize>, metadata: &'static Metadata<'static>, values: Values) {
        let node = at.and_then(|at| self.tree.spans.get_mut(at));
        let Some(node) = node.filter(|_| self.limits.events > 0) else {
            self.tree.events_left_out += 1;
            return;
        };
        self.limits.events -= 1;
        let mut fields = Fields::default();
        self.limits.keep(values.fields, &mut fields);
        let (level, target) = (*metadata.level(), metadata.target());
        node.events.push(Event { at: self.began.elapsed(), level, target, fields });
    }

    fn close(&mut self, at: usize) -> Option<Tree> {
        let now = self.began.elapsed();
        if let Some(node) = self.tree.spans.get_mut(at) {
            node.end.get_or_insert(now);
        }
        if at > 0 || self.is_shown {
            return None;
        }
        self.is_shown = true;
        let began = self.tree.began;
        Some(std::mem::replace(&mut self.tree, Tree::new(began)))
    }
}

impl Limits {
    /// Keeps values as far as there is room for them.
    fn keep(&mut self, values: Vec<(&'static str, Value)>, fields: &mut Fields) {
        for (name, value) in values {
            let value = match value {
                Value::String(text) => {
                    let room = self.bytes.max(SHORT_BYTES);
                    self.bytes = self.bytes.saturating_sub(text.len());
                    Value::String(if text.len() > room { cut(&text, room) } else { text })
                }
                value => value,
            };
            fields.set(name, value);
        }
    }
}

/// The values of a span or an event, each as far as there may be room for it.
struct Values {
    max_bytes: usize,
    /// What the span is called, other than in the code.
    name: Option<String>,
    fields: Vec<(&'static str, Value)>,
}

impl Values {
    fn push(&mut self, field: &Field, value: impl Into<Value>) {
        self.fields.push((field.name(), value.into()));
    }
}

impl Visit for Values {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "otel.name" => self.name = Some(cut(value, SHORT_BYTES)),
            _ => self.push(field, cut(value, self.max_bytes)),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.record_str(field, &value.to_string());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.push(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.push(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.push(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.push(field, value);
    }
}
