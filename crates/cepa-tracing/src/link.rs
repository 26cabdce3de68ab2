//! The link from a reply that goes on to the trace in which it was paused.

use std::sync::Arc;

use cepa_core::{AgentState, Id};
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

/// Where the paused trace is kept: in the metadata of the reply's message, under the name and in the form of the W3C
/// recommendation *Trace Context*. Not in the store, where AgentScope 2.0.11's layer keeps nothing.
const TRACEPARENT: &str = "traceparent";

/// Keeps the trace of a reply that is about to wait.
pub(crate) fn keep(span: &Span, state: &mut AgentState, reply_id: &Id) {
    let Some(traceparent) = traceparent(span) else { return };
    if let Some(msg) = state.context.iter_mut().rev().find(|msg| msg.id == *reply_id) {
        Arc::make_mut(msg).metadata.insert(TRACEPARENT, traceparent);
    }
}

/// Links the span to the trace in which the reply was paused, if that was traced.
pub(crate) fn follow(span: &Span, state: &AgentState) {
    let reply_id = state.reply_id();
    let msg = state.context.iter().rev().find(|msg| msg.id == *reply_id);
    let traceparent = msg.and_then(|msg| msg.metadata.get(TRACEPARENT)).and_then(|value| value.as_str());
    if let Some(paused) = traceparent.and_then(parse) {
        span.add_link(paused);
    }
}

/// `None` where nobody makes traces of spans.
fn traceparent(span: &Span) -> Option<String> {
    let context = span.context();
    let span = context.span();
    let context = span.span_context();
    context.is_valid().then(|| {
        let flags = context.trace_flags().to_u8();
        format!("00-{}-{}-{flags:02x}", context.trace_id(), context.span_id())
    })
}

/// What came from elsewhere is data: anything that is no `traceparent` is none.
fn parse(traceparent: &str) -> Option<SpanContext> {
    let mut parts = traceparent.split('-');
    let (version, trace_id, span_id, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    if version.len() != 2 || trace_id.len() != 32 || span_id.len() != 16 || flags.len() != 2 {
        return None;
    }
    let trace_id = TraceId::from_hex(trace_id).ok()?;
    let span_id = SpanId::from_hex(span_id).ok()?;
    let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()?);
    let context = SpanContext::new(trace_id, span_id, flags, true, TraceState::NONE);
    context.is_valid().then_some(context)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_traceparent_is_one() {
        let context = parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").unwrap();
        assert_eq!(context.trace_id().to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(context.span_id().to_string(), "00f067aa0ba902b7");
        assert!(context.is_sampled() && context.is_remote());
        for wrong in [
            "",
            "00-0-0-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e47zz-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-é",
        ] {
            assert!(parse(wrong).is_none(), "{wrong}");
        }
    }
}
