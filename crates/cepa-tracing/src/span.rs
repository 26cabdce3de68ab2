//! A span while what it stands for goes on.

use std::{borrow::Cow, time::Instant};

use cepa_core::{Error, Origin, ToolResultState};
use opentelemetry::{KeyValue, StringValue, trace::TraceContextExt as _};
use tracing::{Span, record_all};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::{capture::Capture, metrics::Instruments, names};

/// An open span, and what is measured of it. Dropped before it was closed: it was cut off, because nobody listened any
/// more or because a layer was given up after an interrupt; or in a panic.
pub(crate) struct Open<'a> {
    pub(crate) span: Span,
    pub(crate) began: Instant,
    /// Where it is measured, if it is, and with which attributes.
    instruments: Option<&'a Instruments>,
    pub(crate) attributes: Vec<KeyValue>,
    closed: bool,
}

/// How a span ends.
enum End<'a> {
    Success,
    /// Somebody wanted it to end, or nobody listened any more: no failure of what it stands for.
    Cancelled,
    Failure(&'a Failure<'a>),
}

/// What a failure is to alerts and to people.
pub(crate) struct Failure<'a> {
    /// One word of few.
    pub(crate) error_type: Cow<'static, str>,
    /// What went wrong, as far as it may be told.
    pub(crate) description: Option<Cow<'a, str>>,
}

/// The error type of what was interrupted and counts as a failure all the same: a tool.
const CANCELLED: &str = "cancelled";

impl<'a> Open<'a> {
    pub(crate) fn new(span: Span, instruments: &'a Instruments, attributes: Vec<KeyValue>) -> Self {
        Self { span, began: Instant::now(), instruments: Some(instruments), attributes, closed: false }
    }

    /// Of something that took no time here.
    pub(crate) fn unmeasured(span: Span) -> Self {
        Self { span, began: Instant::now(), instruments: None, attributes: Vec::new(), closed: false }
    }

    pub(crate) fn succeed(&mut self) {
        self.end(&End::Success);
    }

    pub(crate) fn interrupt(&mut self) {
        self.end(&End::Cancelled);
    }

    pub(crate) fn fail(&mut self, failure: &Failure<'_>) {
        self.end(&End::Failure(failure));
    }

    /// Ends with an error that goes on outward.
    pub(crate) fn fail_with(&mut self, error: &Error, capture: &Capture) {
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

    fn end(&mut self, end: &End<'_>) {
        self.closed = true;
        match end {
            End::Success => _ = self.span.record("otel.status_code", "OK"),
            End::Cancelled => {
                self.span.record(names::CANCELLED, true);
                self.attributes.push(KeyValue::new(names::CANCELLED, true));
            }
            End::Failure(failure) => {
                let (error_type, description) = (&*failure.error_type, failure.description.as_deref());
                record_all!(
                    self.span,
                    otel.status_code = "ERROR",
                    otel.status_description = description,
                    { names::ERROR_TYPE } = error_type,
                    { names::CANCELLED } = (error_type == CANCELLED).then_some(true),
                );
                self.attributes
                    .push(KeyValue::new(names::ERROR_TYPE, StringValue::from(failure.error_type.clone())));
            }
        }
        if let Some(instruments) = self.instruments {
            instruments.operation(self.began.elapsed().as_secs_f64(), &self.attributes);
        }
        // By now rather than with the last handle: what a tool leaves behind in its span, such as a task that goes on, is
        // not to hold it open, nor the reply.
        self.span.context().span().end();
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if self.closed {
            return;
        }
        if std::thread::panicking() {
            // Inside, or whoever reads the reply: that cannot be told from here.
            let description = Some("it was dropped in a panic".into());
            self.fail(&Failure { error_type: "panic".into(), description });
        } else {
            self.interrupt();
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
        ToolResultState::Interrupted => CANCELLED,
        _ => "unknown",
    };
    let told = (state == ToolResultState::Error).then(|| capture.error(text)).flatten();
    let description = Some(told.map_or(state.as_str().into(), Cow::Owned));
    Some(Failure { error_type: error_type.into(), description })
}
