//! One reply: read to its end, cancelled, or left half-way.

use std::time::Duration;

use cepa_core::{AgentEvent, CancelToken, Error, EventKind, Inputs, Msg};

use super::{Got, Stage};
use crate::{
    case::{CancelAfter, ReplyOptions, StopAfter},
    error::{RunError, kind, recorded},
    models::json_of,
};

/// How long after the event a reply is cancelled: shorter than any scripted delay.
const CANCEL_AFTER: Duration = Duration::from_millis(3);

impl Stage<'_> {
    pub(super) async fn reply(&mut self, inputs: Inputs, options: &ReplyOptions) -> Result<Got, RunError> {
        let token = CancelToken::new();
        let mut call = self.staffed.agent.reply(inputs);
        if let Some(schema) = &options.structured_schema {
            call = call.schema(schema.clone());
        }
        if options.cancel_after.is_some() {
            call = call.cancel_on(token.clone());
        }
        if !options.is_streamed() {
            return Ok(ended(Vec::new(), call.await, false));
        }
        let mut stream = call.stream();
        let mut events = Vec::new();
        let mut reader = Reader { options, token, seen: 0, of_kind: 0 };
        while let Some(event) = stream.next().await {
            apply(&mut self.rebuilt, &event);
            events.push(json_of(&event));
            if reader.stops_after(&event) {
                return Ok(Got { events, ..Got::default() });
            }
        }
        Ok(ended(events, stream.finish().await, true))
    }
}

fn ended(events: Vec<serde_json::Value>, result: Result<Msg, Error>, streamed: bool) -> Got {
    match result {
        Ok(message) => Got { events, final_messages: vec![json_of(&message)], error: None },
        // A stream without an end is empty, not an error.
        Err(error) if streamed && kind(&error) == "no_final_message" => Got { events, ..Got::default() },
        Err(error) => Got { events, error: Some(recorded(&error)), ..Got::default() },
    }
}

/// The caller of a reply, who may cancel it or go away.
struct Reader<'a> {
    options: &'a ReplyOptions,
    token: CancelToken,
    seen: usize,
    of_kind: usize,
}

impl Reader<'_> {
    /// Whether the caller goes away after this event.
    fn stops_after(&mut self, event: &AgentEvent) -> bool {
        self.seen += 1;
        if let Some(after) = &self.options.cancel_after
            && self.is_reached(after, event)
        {
            let token = self.token.clone();
            tokio::spawn(async move {
                tokio::time::sleep(CANCEL_AFTER).await;
                token.cancel();
            });
        }
        match &self.options.stop_after_events {
            Some(StopAfter::Events(events)) => self.seen >= *events,
            Some(StopAfter::Kind(after)) => self.is_reached(after, event),
            None => false,
        }
    }

    fn is_reached(&mut self, after: &CancelAfter, event: &AgentEvent) -> bool {
        let is_one = event.event_type() == after.event;
        self.of_kind += usize::from(is_one);
        is_one && self.of_kind == after.count
    }
}

/// Builds the reply's message as a client does.
fn apply(rebuilt: &mut Option<Msg>, event: &AgentEvent) {
    if let EventKind::ReplyStart { reply_id, name, .. } = &event.kind {
        *rebuilt = Some(Msg::assistant(name.clone(), Vec::new()).with_id(reply_id));
    }
    if let Some(message) = rebuilt {
        message.apply_event(event);
    }
}
