//! An exporter that keeps to itself what is for the log.

use std::time::Duration;

use opentelemetry::Value;
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{SpanData, SpanExporter},
};

use crate::events::may_be_told;

/// Leaves out of events what may quote content.
#[derive(Debug)]
pub(super) struct Discreet<E>(pub(super) E);

impl<E: SpanExporter> SpanExporter for Discreet<E> {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        for event in batch.iter_mut().flat_map(|span| &mut span.events.events) {
            let target = event.attributes.iter().find(|attribute| attribute.key.as_str() == "target");
            let Some(target) = target.map(|target| target.value.as_str().into_owned()) else { continue };
            let before = event.attributes.len();
            event.attributes.retain(|attribute| {
                let name = attribute.key.as_str();
                let is_figure = matches!(attribute.value, Value::Bool(_) | Value::I64(_) | Value::F64(_));
                is_figure || ["level", "target"].contains(&name) || may_be_told(&target, name)
            });
            event.dropped_attributes_count += (before - event.attributes.len()) as u32;
        }
        self.0.export(batch).await
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}
