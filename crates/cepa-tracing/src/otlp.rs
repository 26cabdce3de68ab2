//! Export to an OpenTelemetry collector.

mod collector;
mod discreet;
mod env;
mod error;
mod filter;
mod guard;
mod queue;
mod settings;
mod tls;

use std::{fmt, io, sync::Arc, time::Duration};

use opentelemetry::{InstrumentationScope, KeyValue, Value, trace::TracerProvider as _};
use opentelemetry_otlp::{
    MetricExporter, Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::{Resource, metrics::SdkMeterProvider, trace::SdkTracerProvider};
use tracing::{Metadata, Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{
    Layer, Registry, filter::filter_fn, layer::SubscriberExt as _, registry::LookupSpan,
};

use self::{
    collector::{Collector, Health},
    discreet::Discreet,
    env::Env,
    filter::Wanted,
    queue::Queue,
    settings::{Settings, Target},
};
pub use self::{error::OtlpError, guard::OtlpGuard};
use crate::SetupError;

/// Sends spans and metrics to an OpenTelemetry collector, over OTLP/HTTP with protobuf.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let _guard = cepa_tracing::otlp().service_name("helpdesk").install()?;
/// // … agents with a `TracingMiddleware` …
/// # Ok(()) } // what is left is sent here
/// ```
///
/// The collector is at `http://localhost:4318`, or where the environment says:
///
/// | variable | what it sets |
/// |---|---|
/// | `OTEL_EXPORTER_OTLP_ENDPOINT` | the collector's URL; `…_TRACES_ENDPOINT`, `…_METRICS_ENDPOINT`: the whole URL of one kind of data |
/// | `OTEL_EXPORTER_OTLP_HEADERS` | `name=value,…`, such as a key; also `…_TRACES_HEADERS`, `…_METRICS_HEADERS` |
/// | `OTEL_EXPORTER_OTLP_TIMEOUT` | of one request, in milliseconds (10000); also per kind |
/// | `OTEL_EXPORTER_OTLP_COMPRESSION` | `gzip` or `none`; also per kind |
/// | `OTEL_EXPORTER_OTLP_CERTIFICATE` | a file in PEM: whom to trust over `https:`, in place of the system's list; also per kind |
/// | `OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE`, `OTEL_EXPORTER_OTLP_CLIENT_KEY` | files in PEM: who one is over `https:`; also per kind |
/// | `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES` | who sends |
/// | `OTEL_SDK_DISABLED` | `true`: nothing is made and nothing sent |
/// | `OTEL_TRACES_EXPORTER`, `OTEL_METRICS_EXPORTER` | `none`: not these |
/// | `OTEL_TRACES_SAMPLER`, `OTEL_TRACES_SAMPLER_ARG` | which traces: `parentbased_traceidratio` and `0.1`, say |
/// | `OTEL_PROPAGATORS` | `tracecontext`, `baggage`, both or `none`: see [`set_global`](OtlpGuard::set_global) (`tracecontext`) |
/// | `OTEL_BSP_SCHEDULE_DELAY`, `OTEL_BSP_MAX_QUEUE_SIZE`, `OTEL_BSP_MAX_EXPORT_BATCH_SIZE` | how spans are batched |
/// | `OTEL_METRIC_EXPORT_INTERVAL` | how often metrics are sent, in milliseconds (60000) |
/// | `OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT`, `OTEL_SPAN_EVENT_COUNT_LIMIT`, `OTEL_SPAN_LINK_COUNT_LIMIT` | how much of each a span holds (128) |
///
/// A value that cannot be used is an error that names the variable, and so is a limit that the SDK does not know
/// (`OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT` and its like). What the program sets here goes over the environment. No
/// header, and no query of a URL, is in a log or an error.
///
/// Sending is done by threads of its own: no agent waits for it. Where there is no collector the agent runs on, and one
/// warning (by [`tracing`]) says so; a line says when it works again, and only then may there be another warning. Spans
/// that end faster than they can be sent are lost once `OTEL_BSP_MAX_QUEUE_SIZE` of them wait (2048): one warning says
/// so, and [`flush`](OtlpGuard::flush) and [`shutdown`](OtlpGuard::shutdown) say how many they are.
///
/// Collectors over `https:` need one of the features `rustls` (default), `rustls-no-provider` and `native-tls`.
pub fn otlp() -> Otlp {
    Otlp::default()
}

/// Settings of an export: see [`otlp`].
#[derive(Clone, Default)]
#[must_use = "call `install` or `layer`"]
pub struct Otlp {
    endpoint: Option<String>,
    attributes: Vec<KeyValue>,
    filter: Option<String>,
    flush_timeout: Option<Duration>,
}

impl Otlp {
    /// The collector's URL, such as `https://collector.example:4318`; `/v1/traces` and `/v1/metrics` are added to it.
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.endpoint = Some(url.into());
        self
    }

    /// What the program is called in traces: the attribute `service.name` of the resource.
    pub fn service_name(self, name: impl Into<String>) -> Self {
        self.attribute("service.name", name.into())
    }

    /// An attribute of the resource, which stands for the program: `service.version`, say.
    pub fn attribute(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.attributes.push(KeyValue::new(key.into(), value.into()));
        self
    }

    /// Which spans are sent, in the way of `RUST_LOG`: `warn,my_crate=debug`. All from *info* on, but for what is said
    /// here. Those of agents (`cepa_tracing`) are sent in any case, unless `cepa_tracing` itself is named: `warn` means
    /// the others.
    ///
    /// The spans inside of HTTP clients (*hyper*, *h2*, …) are left out unless they are named: exporting would trace
    /// itself. Of the events in spans only warnings and errors are sent; those of Cepa without texts of errors, which may quote
    /// what was said.
    pub fn filter(mut self, directives: impl Into<String>) -> Self {
        self.filter = Some(directives.into());
        self
    }

    /// How long flushing may take, also that at the end: 5 s, which is also the most that the SDK waits for spans.
    pub fn flush_timeout(mut self, timeout: Duration) -> Self {
        self.flush_timeout = Some(timeout);
        self
    }

    /// For a program that has set up nothing: makes the export the program's subscriber, and its providers and the W3C
    /// *Trace Context* those of OpenTelemetry. Warnings and errors of the program go to standard error, and that a
    /// collector works again.
    ///
    /// # Errors
    /// When a setting is wrong, or when there is a subscriber already.
    pub fn install(self) -> Result<OtlpGuard, OtlpError> {
        let (layer, guard) = self.layer()?;
        // The SDK's own complaints, one for each batch, say nothing that has not been said.
        let is_told = |metadata: &Metadata<'_>| {
            let level = match metadata.target() {
                collector::TARGET => LevelFilter::INFO,
                _ => LevelFilter::WARN,
            };
            metadata.is_event()
                && *metadata.level() <= level
                && !metadata.target().starts_with("opentelemetry")
        };
        let log = tracing_subscriber::fmt::layer()
            .with_writer(io::stderr)
            .with_filter(filter_fn(is_told).with_max_level_hint(LevelFilter::INFO));
        let subscriber = Registry::default().with(layer).with(log);
        tracing::subscriber::set_global_default(subscriber).map_err(|_| SetupError::AlreadySet)?;
        guard.set_global();
        Ok(guard)
    }

    /// For a subscriber of the program's own: the layer that exports spans, with its filter.
    ///
    /// Metrics are exported too once they are given the [meter](OtlpGuard::meter), or after
    /// [`set_global`](OtlpGuard::set_global).
    ///
    /// ```no_run
    /// use tracing_subscriber::prelude::*;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (otlp, guard) = cepa_tracing::otlp().layer()?;
    /// tracing_subscriber::registry().with(otlp).init(); // .with(your own layers)
    /// guard.set_global();
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When a setting is wrong.
    pub fn layer<S>(self) -> Result<(impl Layer<S> + Send + Sync + 'static, OtlpGuard), OtlpError>
    where
        S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
    {
        let timeout = self.flush_timeout.unwrap_or(Duration::from_secs(5));
        if timeout.is_zero() {
            return Err(OtlpError::setting(".flush_timeout(…)", "must be longer than zero"));
        }
        let wanted = Wanted::new(self.filter.as_deref())?;
        let settings = Settings::read(&Env(&|name| std::env::var_os(name)), self.endpoint.as_deref())?;
        let resource = Resource::builder().with_attributes(self.attributes).build();

        let propagators = settings.propagators;
        let mut guard = OtlpGuard { traces: None, metrics: None, timeout, propagators };
        if let Some(target) = &settings.traces {
            let health = Health::new("spans", &target.url, None);
            let queue = Queue::new(settings.queue_size, &health.url);
            guard.traces = Some((traces(target, &health, &queue, resource.clone())?, health, queue));
        }
        if let Some(target) = &settings.metrics {
            let beside = guard.traces.as_ref().map(|(_, health, _)| &**health);
            let health = Health::new("metrics", &target.url, beside);
            guard.metrics = Some((metrics(target, &health, resource)?, health));
        }
        let layer = guard.traces.as_ref().map(|(provider, ..)| {
            let scope = InstrumentationScope::builder("cepa").with_version(env!("CARGO_PKG_VERSION")).build();
            // Without what the conventions do not name: it would be half of each span.
            tracing_opentelemetry::layer()
                .with_tracer(provider.tracer_with_scope(scope))
                .with_location(false)
                .with_threads(false)
                .with_target(false)
                .with_level(false)
                .with_tracked_inactivity(false)
                .with_filter(wanted.filter())
        });
        Ok((layer, guard))
    }
}

impl fmt::Debug for Otlp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the endpoint, whose query may hold a key.
        f.debug_struct("Otlp").field("filter", &self.filter).finish_non_exhaustive()
    }
}

fn traces(
    target: &Target,
    health: &Arc<Health>,
    queue: &Arc<Queue>,
    resource: Resource,
) -> Result<SdkTracerProvider, OtlpError> {
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(Collector::new(target, health.clone())?)
        .with_endpoint(health.url.as_str())
        .with_protocol(Protocol::HttpBinary)
        .with_timeout(target.timeout)
        .build()
        .map_err(|error| OtlpError::Exporter { what: health.what, reason: error.to_string() })?;
    Ok(SdkTracerProvider::builder()
        .with_span_processor(queue.processor(Discreet(exporter)))
        .with_resource(resource)
        .build())
}

fn metrics(target: &Target, health: &Arc<Health>, resource: Resource) -> Result<SdkMeterProvider, OtlpError> {
    let exporter = MetricExporter::builder()
        .with_http()
        .with_http_client(Collector::new(target, health.clone())?)
        .with_endpoint(health.url.as_str())
        .with_protocol(Protocol::HttpBinary)
        .with_timeout(target.timeout)
        .build()
        .map_err(|error| OtlpError::Exporter { what: health.what, reason: error.to_string() })?;
    Ok(SdkMeterProvider::builder().with_periodic_exporter(exporter).with_resource(resource).build())
}
