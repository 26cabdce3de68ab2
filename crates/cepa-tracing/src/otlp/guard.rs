//! What is still to be sent at the end.

use std::{
    fmt, io,
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use opentelemetry::{
    global,
    metrics::{Meter, MeterProvider as _},
    propagation::{TextMapCompositePropagator, TextMapPropagator},
};
use opentelemetry_sdk::{
    error::{OTelSdkError, OTelSdkResult},
    metrics::SdkMeterProvider,
    propagation::{BaggagePropagator, TraceContextPropagator},
    trace::SdkTracerProvider,
};

use super::{collector::Health, env::Propagators, error::OtlpError, queue::Queue};

/// Sends what is left when it is dropped. Keep it until the program ends: `let _guard = …`, not `let _ = …`.
///
/// Sending blocks the thread, up to the time set by [`flush_timeout`](super::Otlp::flush_timeout) (5 s by default), and
/// needs no runtime. In asynchronous code that goes on afterwards put [`flush`](Self::flush) into `spawn_blocking`.
#[must_use = "what is left is sent when the guard is dropped: keep it until the program ends"]
pub struct OtlpGuard {
    pub(super) traces: Option<(SdkTracerProvider, Arc<Health>, Arc<Queue>)>,
    pub(super) metrics: Option<(SdkMeterProvider, Arc<Health>)>,
    pub(super) timeout: Duration,
    pub(super) propagators: Propagators,
}

impl OtlpGuard {
    /// The meter whose metrics are exported: for [`TracingMiddleware::meter`](crate::TracingMiddleware::meter), where
    /// it is not to be the program's. One that drops everything where metrics are not exported.
    pub fn meter(&self) -> Meter {
        let nothing = SdkMeterProvider::default();
        self.metrics.as_ref().map_or(&nothing, |(provider, _)| provider).meter("cepa")
    }

    /// Makes the providers of spans and metrics the program's, and the W3C recommendation *Trace Context* (or what
    /// `OTEL_PROPAGATORS` says) its way of handing trace ids on. [`install`](super::Otlp::install) does this already.
    ///
    /// Ids are handed on by HTTP clients that ask OpenTelemetry for them, such as *reqwest-middleware* with
    /// *reqwest-tracing*, or by a tool's own code:
    ///
    /// ```
    /// use std::collections::HashMap;
    ///
    /// use tracing_opentelemetry::OpenTelemetrySpanExt as _;
    ///
    /// let context = tracing::Span::current().context();
    /// let mut headers = HashMap::new();
    /// opentelemetry::global::get_text_map_propagator(|way| way.inject_context(&context, &mut headers));
    /// // … a request with these headers …
    /// ```
    ///
    /// Cepa's own requests, to models and others, do not have them.
    pub fn set_global(&self) {
        if let Some((provider, ..)) = &self.traces {
            global::set_tracer_provider(provider.clone());
            let Propagators { trace_context, baggage } = self.propagators;
            let mut ways: Vec<Box<dyn TextMapPropagator + Send + Sync>> = Vec::new();
            if trace_context {
                ways.push(Box::new(TraceContextPropagator::new()));
            }
            if baggage {
                ways.push(Box::new(BaggagePropagator::new()));
            }
            global::set_text_map_propagator(TextMapCompositePropagator::new(ways));
        }
        if let Some((provider, _)) = &self.metrics {
            global::set_meter_provider(provider.clone());
        }
    }

    /// Sends what has ended so far.
    ///
    /// # Errors
    /// When the collector did not take it, or not in time; and when spans were lost since this was asked last, because
    /// more ended than may wait ([`OtlpError::Lost`]) or requests failed that were sent in between.
    pub fn flush(&self) -> Result<(), OtlpError> {
        self.run(SdkTracerProvider::force_flush, SdkMeterProvider::force_flush)
    }

    /// Sends what has ended and stops exporting: what dropping does, with the errors.
    ///
    /// # Errors
    /// As of [`flush`](Self::flush).
    pub fn shutdown(mut self) -> Result<(), OtlpError> {
        self.stop()
    }

    fn stop(&mut self) -> Result<(), OtlpError> {
        // Shutting down sends as well; but of spans it does not tell when that failed.
        let result =
            self.run(|traces| traces.force_flush().and(traces.shutdown()), SdkMeterProvider::shutdown);
        (self.traces, self.metrics) = (None, None);
        result
    }

    /// Does both at once, and waits for the time there is. On threads of their own, as flushing metrics has no limit.
    fn run(
        &self,
        traces: impl FnOnce(&SdkTracerProvider) -> OTelSdkResult + Send + 'static,
        metrics: impl FnOnce(&SdkMeterProvider) -> OTelSdkResult + Send + 'static,
    ) -> Result<(), OtlpError> {
        let wait = Wait { timeout: self.timeout, end: Instant::now().checked_add(self.timeout) };
        let spans = self
            .traces
            .clone()
            .map(|(provider, health, queue)| (Job::start(health, move || traces(&provider)), queue));
        let metrics =
            self.metrics.clone().map(|(provider, health)| Job::start(health, move || metrics(&provider)));
        let spans = spans.map_or(Ok(()), |(job, queue)| queue.settle(job.wait(wait)));
        spans.and(metrics.map_or(Ok(()), |job| job.wait(wait)))
    }
}

/// How long all steps of the end may take together.
#[derive(Clone, Copy)]
struct Wait {
    timeout: Duration,
    /// `None`: later than there are times.
    end: Option<Instant>,
}

/// A step of the end, on a thread of its own.
struct Job {
    health: Arc<Health>,
    told: io::Result<mpsc::Receiver<OTelSdkResult>>,
}

impl Job {
    fn start(health: Arc<Health>, run: impl FnOnce() -> OTelSdkResult + Send + 'static) -> Self {
        let (tell, told) = mpsc::channel();
        let thread = thread::Builder::new().name("cepa-otlp-flush".into());
        Self { health, told: thread.spawn(move || _ = tell.send(run())).map(|_| told) }
    }

    fn wait(self, Wait { timeout, end }: Wait) -> Result<(), OtlpError> {
        let what = self.health.what;
        let failed = |reason| Err(OtlpError::NotSent { what, reason });
        let told = match self.told {
            Ok(told) => told,
            Err(error) => return failed(error.to_string()),
        };
        let left = end.map_or(timeout, |end| end.saturating_duration_since(Instant::now()));
        match told.recv_timeout(left) {
            Ok(Ok(()) | Err(OTelSdkError::AlreadyShutdown)) => Ok(()),
            Ok(Err(OTelSdkError::Timeout(timeout))) => Err(OtlpError::TimedOut { what, timeout }),
            Ok(Err(error)) => failed(self.health.failure().unwrap_or_else(|| error.to_string())),
            Err(_) => Err(OtlpError::TimedOut { what, timeout }),
        }
    }
}

impl Drop for OtlpGuard {
    fn drop(&mut self) {
        // Of a collector that does not answer, or says no, has been told already.
        if let Err(error @ (OtlpError::TimedOut { .. } | OtlpError::Lost { .. })) = self.stop() {
            tracing::warn!("{error}");
        }
    }
}

impl fmt::Debug for OtlpGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OtlpGuard")
            .field("traces", &self.traces.is_some())
            .field("metrics", &self.metrics.is_some())
            .finish_non_exhaustive()
    }
}
