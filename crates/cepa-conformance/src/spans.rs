//! The spans of a case, in the form of the case files.

use std::{
    cell::OnceCell,
    fmt,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use opentelemetry::{
    KeyValue, Value as Attribute,
    trace::{SpanId, Status, TraceId, TracerProvider as _},
};
use opentelemetry_sdk::trace::{IdGenerator, InMemorySpanExporter, SdkTracerProvider, SpanData};
use serde_json::{Map, Value, json};
use tracing::{Level, subscriber::DefaultGuard};
use tracing_subscriber::{Layer as _, filter::Targets, layer::SubscriberExt as _, registry};

/// What takes the spans of a case, once a layer of the case makes some.
///
/// It is the subscriber of the case's own thread. All of these take the same: what one thread finds out about who wants
/// a span, which `tracing` keeps for the whole process, is right for the others.
#[derive(Default)]
pub(crate) struct Spans(OnceCell<Listener>);

struct Listener {
    ended: InMemorySpanExporter,
    _subscriber: DefaultGuard,
}

impl Spans {
    /// Takes the spans of this thread from now on.
    pub(crate) fn listen(&self) {
        self.0.get_or_init(|| {
            let ended = InMemorySpanExporter::default();
            let provider = SdkTracerProvider::builder()
                .with_id_generator(Counting::default())
                .with_simple_exporter(ended.clone())
                .build();
            let spans = tracing_opentelemetry::layer()
                .with_tracer(provider.tracer("cepa"))
                .with_location(false)
                .with_threads(false)
                .with_target(false)
                .with_tracked_inactivity(false)
                .with_filter(Targets::new().with_target("cepa_tracing", Level::INFO));
            let subscriber = tracing::subscriber::set_default(registry().with(spans));
            Listener { ended, _subscriber: subscriber }
        });
    }

    /// The spans that have ended since the last reading, by their start.
    pub(crate) fn take(&self) -> Vec<Value> {
        let Some(Listener { ended, .. }) = self.0.get() else { return Vec::new() };
        // It fails only where somebody has panicked while writing to it: there is nothing to be read then.
        let mut spans = ended.get_finished_spans().unwrap_or_default();
        ended.reset();
        spans.sort_by_key(|span| (span.start_time, span.span_context.span_id().to_bytes()));
        let ids: Vec<SpanId> = spans.iter().map(|span| span.span_context.span_id()).collect();
        let mut traces: Vec<TraceId> = spans.iter().map(|span| span.span_context.trace_id()).collect();
        traces.sort_by_key(|trace| trace.to_bytes());
        traces.dedup();
        spans.iter().map(|span| recorded(span, &ids, &traces)).collect()
    }
}

impl fmt::Debug for Spans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spans").field("listens", &self.0.get().is_some()).finish()
    }
}

/// Ids in the order in which they are given, so that spans that begin at one instant have an order.
#[derive(Debug, Default)]
struct Counting(AtomicU64);

impl Counting {
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Relaxed) + 1
    }
}

impl IdGenerator for Counting {
    fn new_trace_id(&self) -> TraceId {
        u128::from(self.next()).into()
    }

    fn new_span_id(&self) -> SpanId {
        self.next().into()
    }
}

/// A span in the form of the case files, its attributes as they came. Beyond that: how the status is described.
fn recorded(span: &SpanData, ids: &[SpanId], traces: &[TraceId]) -> Value {
    let parent = match span.parent_span_id {
        SpanId::INVALID => Value::Null,
        parent => ids.iter().position(|id| *id == parent).map_or("of another call".into(), Value::from),
    };
    let trace = traces.iter().position(|trace| *trace == span.span_context.trace_id()).map_or(0, |at| at + 1);
    let (status, description) = match &span.status {
        Status::Unset => ("UNSET", None),
        Status::Ok => ("OK", None),
        Status::Error { description } => ("ERROR", Some(description)),
    };
    let attributes: Map<String, Value> = span
        .attributes
        .iter()
        .map(|attribute| (attribute.key.to_string(), json_of(&attribute.value)))
        .collect();
    let exceptions: Vec<String> = span
        .events
        .iter()
        .filter(|event| event.name == "exception")
        .map(|event| kind(&event.attributes))
        .collect();
    json!({
        "name": span.name,
        "trace": format!("trace{trace}"),
        "parent": parent,
        "kind": format!("{:?}", span.span_kind).to_uppercase(),
        "scope": span.instrumentation_scope.name(),
        "status": status,
        "status_description": description,
        "attributes": attributes,
        "exceptions": exceptions,
    })
}

/// The type of an exception.
fn kind(attributes: &[KeyValue]) -> String {
    let kind = attributes.iter().find(|attribute| attribute.key.as_str() == "exception.type");
    kind.map_or_else(String::new, |kind| kind.value.to_string())
}

fn json_of(value: &Attribute) -> Value {
    match value {
        Attribute::Bool(value) => (*value).into(),
        Attribute::I64(value) => (*value).into(),
        Attribute::F64(value) => (*value).into(),
        other => other.to_string().into(),
    }
}
