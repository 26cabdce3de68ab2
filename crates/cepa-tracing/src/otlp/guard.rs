//! What is still to be sent at the end.

use std::{
    fmt,
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use opentelemetry::{
    global,
    metrics::{Meter, MeterProvider as _},
};
use opentelemetry_sdk::{
    error::{OTelSdkError, OTelSdkResult},
    metrics::SdkMeterProvider,
    propagation::TraceContextPropagator,
    trace::SdkTracerProvider,
};

use super::{collector::Health, error::OtlpError};

/// Sends what is left when it is dropped. Keep it until the program ends: `let _guard = …`, not `let _ = …`.
///
/// Sending blocks the thread, up to the time set by [`flush_timeout`](super::Otlp::flush_timeout) (5 s by default), and
/// needs no runtime. In asynchronous code that goes on afterwards put [`flush`](Self::flush) into `spawn_blocking`.
#[must_use = "what is left is sent when the guard is dropped: keep it until the program ends"]
pub struct OtlpGuard {
    pub(super) traces: Option<(SdkTracerProvider, Arc<Health>)>,
    pub(super) metrics: Option<(SdkMeterProvider, Arc<Health>)>,
    pub(super) timeout: Duration,
}

/// A step of the end, on a thread of its own.
type Job = (Arc<Health>, Box<dyn FnOnce() -> OTelSdkResult + Send>);

impl OtlpGuard {
    /// The meter whose metrics are exported: for [`TracingMiddleware::meter`](crate::TracingMiddleware::meter), where
    /// it is not to be the program's. One that drops everything where metrics are not exported.
    pub fn meter(&self) -> Meter {
        let nothing = SdkMeterProvider::default();
        self.metrics.as_ref().map_or(&nothing, |(provider, _)| provider).meter("cepa")
    }

    /// Makes the providers of spans and metrics the program's, and the W3C recommendation *Trace Context* the way in
    /// which trace ids go on to servers. [`install`](super::Otlp::install) does this already.
    pub fn set_global(&self) {
        if let Some((provider, _)) = &self.traces {
            global::set_tracer_provider(provider.clone());
            global::set_text_map_propagator(TraceContextPropagator::new());
        }
        if let Some((provider, _)) = &self.metrics {
            global::set_meter_provider(provider.clone());
        }
    }

    /// Sends what has ended so far.
    ///
    /// # Errors
    /// When the collector did not take it, or not in time.
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
        let end = Instant::now() + self.timeout;
        let mut jobs: Vec<Job> = Vec::new();
        if let Some((provider, health)) = self.traces.clone() {
            jobs.push((health, Box::new(move || traces(&provider))));
        }
        if let Some((provider, health)) = self.metrics.clone() {
            jobs.push((health, Box::new(move || metrics(&provider))));
        }
        let started: Vec<_> = jobs
            .into_iter()
            .map(|(health, job)| {
                let (tell, told) = mpsc::channel();
                let thread = thread::Builder::new().name("cepa-otlp-flush".into());
                (health, thread.spawn(move || _ = tell.send(job())).map(|_| told))
            })
            .collect();
        let mut result = Ok(());
        for (health, started) in started {
            let what = health.what;
            let failed = |reason| OtlpError::NotSent { what, reason };
            let done = match started {
                Err(error) => Err(failed(error.to_string())),
                Ok(told) => match told.recv_timeout(end.saturating_duration_since(Instant::now())) {
                    Ok(Ok(()) | Err(OTelSdkError::AlreadyShutdown)) => Ok(()),
                    Ok(Err(OTelSdkError::Timeout(timeout))) => Err(OtlpError::TimedOut { what, timeout }),
                    Ok(Err(error)) => Err(failed(health.failure().unwrap_or_else(|| error.to_string()))),
                    Err(_) => Err(OtlpError::TimedOut { what, timeout: self.timeout }),
                },
            };
            result = result.and(done);
        }
        result
    }
}

impl Drop for OtlpGuard {
    fn drop(&mut self) {
        // Of a collector that does not answer, or says no, has been told already.
        if let Err(error @ OtlpError::TimedOut { .. }) = self.stop() {
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
