//! A span while what it stands for goes on.

use std::{borrow::Cow, time::Instant};

use cepa_core::{Error, Origin, ToolResultState};
use opentelemetry::KeyValue;
use tracing::{Span, record_all};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::{capture::Capture, names};

/// An open span. Dropped before it was closed: it was cut off, because nobody listened any more or because a layer was
/// given up after an interrupt.
pub(crate) struct Open {
    pub(crate) span: Span,
    pub(crate) began: Instant,
    closed: bool,
}

/// What a failure is to alerts and to people.
pub(crate) struct Failure<'a> {
    /// One word of few.
    pub(crate) error_type: Cow<'static, str>,
    /// What went wrong, as far as it may be told.
    pub(crate) description: Option<Cow<'a, str>>,
}

impl Open {
    pub(crate) fn new(span: Span) -> Self {
        Self { span, began: Instant::now(), closed: false }
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    pub(crate) fn succeed(mut self) {
        self.closed = true;
        self.span.record("otel.status_code", "OK");
    }

    /// Somebody wanted it to end: no failure of what it stands for.
    pub(crate) fn interrupt(mut self) {
        self.closed = true;
        self.span.record(names::CANCELLED, true);
    }

    pub(crate) fn fail(mut self, failure: &Failure<'_>) {
        self.closed = true;
        let (error_type, description) = (&*failure.error_type, failure.description.as_deref());
        record_all!(
            self.span,
            otel.status_code = "ERROR",
            otel.status_description = description,
            { names::ERROR_TYPE } = error_type
        );
    }

    /// Ends with an error that goes on outward.
    pub(crate) fn fail_with(self, error: &Error, capture: &Capture) {
        if error.origin() == Origin::Interrupt {
            return self.interrupt();
        }
        let message = capture.error(&error.to_string());
        let error_type = error_type(error);
        let mut attributes = vec![KeyValue::new("exception.type", error_type)];
        attributes.extend(message.clone().map(|message| KeyValue::new("exception.message", message)));
        self.span.add_event("exception", attributes);
        // Where a text may not be told, where it comes from may.
        let place = || error.layer().map(|(hook, name)| format!("{hook} of `{name}`"));
        let description = message.or_else(place);
        self.fail(&Failure { error_type: error_type.into(), description: description.map(Cow::Owned) });
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.closed {
            self.span.record(names::CANCELLED, true);
        }
    }
}

/// One word of few for an error.
pub(crate) fn error_type(error: &Error) -> &'static str {
    match error.origin() {
        Origin::Layer => "layer",
        Origin::Tool => "tool",
        _ => error.info().kind.as_str(),
    }
}

/// How a tool's result that is no success is told.
pub(crate) fn tool_failure(
    state: ToolResultState,
    text: &str,
    capture: &Capture,
) -> Option<Failure<'static>> {
    let error_type = match state {
        ToolResultState::Success | ToolResultState::Running => return None,
        ToolResultState::Error => "tool_error",
        ToolResultState::Denied => "denied",
        ToolResultState::Interrupted => "cancelled",
        _ => "unknown",
    };
    let told = (state == ToolResultState::Error).then(|| capture.error(text)).flatten();
    let description = Some(told.map_or(state.as_str().into(), Cow::Owned));
    Some(Failure { error_type: error_type.into(), description })
}
