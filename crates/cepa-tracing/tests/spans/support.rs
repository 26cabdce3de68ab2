//! What these tests share: an agent, and an exporter in memory.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use cepa_core::{
    Agent, AgentBuilder, AgentEvent, AgentStream, ChatModel, InjectionConfig, IntoShared, ReplyStream,
};
use cepa_tracing::TracingMiddleware;
use opentelemetry::trace::{SpanId, Status, TraceContextExt as _, TracerProvider as _};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use tracing::{Dispatch, Metadata, Span, Subscriber, span, subscriber::DefaultGuard};
use tracing_subscriber::{
    Layer,
    filter::filter_fn,
    layer::{Context, SubscriberExt as _},
    registry,
};

/// An agent with a layer of traces.
pub(crate) fn traced(model: impl IntoShared<dyn ChatModel>, tracing: TracingMiddleware) -> AgentBuilder {
    let mut injection = InjectionConfig::default();
    injection.inject_runtime_state = false;
    Agent::builder("Friday").model(model).injection_config(injection).middleware(tracing)
}

/// Takes spans and keeps those that have ended.
#[derive(Clone)]
pub(crate) struct Collector {
    pub(crate) dispatch: Dispatch,
    ended: InMemorySpanExporter,
    open: Open,
}

impl Collector {
    /// Takes spans only: what is logged beside them is not the layer's.
    pub(crate) fn new() -> Self {
        Self::taking(|metadata| metadata.is_span())
    }

    pub(crate) fn taking(wants: fn(&Metadata<'_>) -> bool) -> Self {
        let ended = InMemorySpanExporter::default();
        let provider = SdkTracerProvider::builder().with_simple_exporter(ended.clone()).build();
        let open = Open::default();
        let spans = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
        let spans = spans.with_filter(filter_fn(wants));
        let dispatch = Dispatch::new(registry().with(open.clone()).with(spans));
        Self { dispatch, ended, open }
    }

    /// Takes the spans of this thread from now on.
    pub(crate) fn listening() -> (Self, DefaultGuard) {
        let collector = Self::new();
        let guard = tracing::dispatcher::set_default(&collector.dispatch);
        (collector, guard)
    }

    /// The spans that have ended, by their start. None may be open.
    #[track_caller]
    pub(crate) fn spans(&self) -> Spans {
        assert_eq!(self.open.0.load(SeqCst), 0, "spans are open");
        self.ended()
    }

    /// Those that have ended, whatever is open.
    pub(crate) fn ended(&self) -> Spans {
        let mut spans = self.ended.get_finished_spans().unwrap();
        spans.sort_by_key(|span| span.start_time);
        Spans(spans)
    }
}

/// Counts the spans that are open.
#[derive(Clone, Default)]
struct Open(Arc<AtomicUsize>);

impl<S: Subscriber> Layer<S> for Open {
    fn on_new_span(&self, _: &span::Attributes<'_>, _: &span::Id, _: Context<'_, S>) {
        self.0.fetch_add(1, SeqCst);
    }

    fn on_close(&self, _: span::Id, _: Context<'_, S>) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// Spans that have ended.
pub(crate) struct Spans(pub(crate) Vec<SpanData>);

impl Spans {
    /// Each span's name and its parent's.
    pub(crate) fn tree(&self) -> Vec<(&str, &str)> {
        let name = |span: &SpanData| match span.parent_span_id {
            SpanId::INVALID => "",
            id => self.0.iter().find(|one| one.span_context.span_id() == id).map_or("?", |one| &*one.name),
        };
        self.0.iter().map(|span| (&*span.name, name(span))).collect()
    }

    /// The one span of this name.
    #[track_caller]
    pub(crate) fn one(&self, name: &str) -> &SpanData {
        let spans: Vec<_> = self.0.iter().filter(|span| span.name == name).collect();
        assert_eq!(spans.len(), 1, "spans of {name} in {:?}", self.tree());
        spans[0]
    }

    /// Everything that is said in spans: values of attributes, events and descriptions.
    pub(crate) fn words(&self) -> String {
        let words =
            self.0.iter().map(|span| format!("{:?} {:?} {:?}\n", span.attributes, span.events, span.status));
        words.collect()
    }
}

/// What an attribute holds, as text; empty where there is none.
pub(crate) fn attribute(span: &SpanData, name: &str) -> String {
    let attribute = span.attributes.iter().find(|attribute| attribute.key.as_str() == name);
    attribute.map_or_else(String::new, |attribute| attribute.value.to_string())
}

/// Cut off, which is nobody's failure.
pub(crate) fn is_cancelled(span: &SpanData) -> bool {
    span.status == Status::Unset && attribute(span, "cepa.cancelled") == "true"
}

/// No span is entered in this thread.
#[track_caller]
pub(crate) fn assert_nothing_is_current() {
    assert!(Span::current().is_none());
    assert!(!opentelemetry::Context::current().span().span_context().is_valid());
}

/// Where events come from.
pub(crate) trait Events {
    async fn next(&mut self) -> Option<AgentEvent>;
}

impl Events for ReplyStream<'_> {
    async fn next(&mut self) -> Option<AgentEvent> {
        ReplyStream::next(self).await
    }
}

impl Events for AgentStream {
    async fn next(&mut self) -> Option<AgentEvent> {
        AgentStream::next(self).await
    }
}

/// Reads up to an event of this type.
pub(crate) async fn read_to(events: &mut impl Events, event_type: &str) {
    while let Some(event) = events.next().await {
        if event.event_type() == event_type {
            return;
        }
    }
    panic!("no {event_type}");
}
