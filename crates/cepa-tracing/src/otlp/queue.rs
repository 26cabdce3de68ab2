//! The queue in which spans wait to be sent, and what is lost of them.
//!
//! The SDK drops spans that end while its queue is full, and neither flushing nor shutting down tells. So the waiting
//! ones are counted before the SDK sees them: its queue is never full, and what is turned away here is told.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use opentelemetry::Context;
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{BatchConfigBuilder, BatchSpanProcessor, Span, SpanData, SpanExporter, SpanProcessor},
};

use super::error::OtlpError;

/// How many spans wait, and how many were lost.
#[derive(Debug)]
pub(super) struct Queue {
    size: usize,
    /// The collector, for people.
    to: String,
    waiting: AtomicUsize,
    /// Turned away since it was told last.
    lost: AtomicUsize,
    /// In requests that failed since it was told last.
    unsent: AtomicUsize,
    warned: AtomicBool,
}

impl Queue {
    pub(super) fn new(size: usize, to: &str) -> Arc<Self> {
        Arc::new(Self {
            size,
            to: to.to_owned(),
            waiting: AtomicUsize::default(),
            lost: AtomicUsize::default(),
            unsent: AtomicUsize::default(),
            warned: AtomicBool::default(),
        })
    }

    /// The batches of what waits, sent by the exporter.
    pub(super) fn processor<E: SpanExporter + 'static>(
        self: &Arc<Self>,
        exporter: E,
    ) -> impl SpanProcessor + use<E> {
        let config = BatchConfigBuilder::default().with_max_queue_size(self.size).build();
        let exporter = Sending { exporter, queue: self.clone() };
        let batches = BatchSpanProcessor::builder(exporter).with_batch_config(config).build();
        Waiting { batches, queue: self.clone() }
    }

    /// What came of sending, with what was lost until now.
    pub(super) fn settle(&self, sent: Result<(), OtlpError>) -> Result<(), OtlpError> {
        let (lost, unsent) = (self.lost.swap(0, Relaxed), self.unsent.swap(0, Relaxed));
        // Of several batches the SDK tells how the last one went.
        let sent = match sent {
            Ok(()) if unsent > 0 => {
                let reason = format!("{unsent} of them were in requests that failed");
                Err(OtlpError::NotSent { what: "spans", reason })
            }
            sent => sent,
        };
        if lost == 0 {
            return sent;
        }
        let besides = sent.err().map(|error| format!("; and {error}")).unwrap_or_default();
        Err(OtlpError::Lost { count: lost, reason: format!("{}{besides}", self.full()) })
    }

    /// Says once that spans are lost. On the exporter's thread: what ends a span should not wait for a log.
    fn warn(&self) {
        if self.lost.load(Relaxed) > 0 && !self.warned.swap(true, Relaxed) {
            tracing::warn!(
                "spans for the OpenTelemetry collector at {} are lost: {}; the agent runs on",
                self.to,
                self.full()
            );
        }
    }

    fn full(&self) -> String {
        format!(
            "they ended faster than they could be sent, and no more than {} wait (`OTEL_BSP_MAX_QUEUE_SIZE`)",
            self.size
        )
    }
}

/// Takes spans that have ended, as many as may wait.
#[derive(Debug)]
struct Waiting {
    batches: BatchSpanProcessor,
    queue: Arc<Queue>,
}

impl SpanProcessor for Waiting {
    fn on_start(&self, span: &mut Span, cx: &Context) {
        self.batches.on_start(span, cx);
    }

    fn on_end(&self, span: SpanData) {
        let queue = &self.queue;
        if queue.waiting.fetch_add(1, Relaxed) < queue.size {
            self.batches.on_end(span);
        } else {
            queue.waiting.fetch_sub(1, Relaxed);
            queue.lost.fetch_add(1, Relaxed);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.batches.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.batches.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.batches.set_resource(resource);
    }
}

/// Sends batches of what waited.
#[derive(Debug)]
struct Sending<E> {
    exporter: E,
    queue: Arc<Queue>,
}

impl<E: SpanExporter> SpanExporter for Sending<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let (queue, count) = (&self.queue, batch.len());
        // They have left the SDK's queue, so there is room in it.
        queue.waiting.fetch_sub(count, Relaxed);
        let result = self.exporter.export(batch).await;
        if result.is_err() {
            queue.unsent.fetch_add(count, Relaxed);
        }
        queue.warn();
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
