//! The events of a reply, and what is expected of them.

use std::fmt::{self, Write};

use super::{
    align::{Step, align},
    event_line::EventLine,
    expected::Expected,
};
use crate::{
    agent::{ReplyCall, ReplyStream},
    error::{Error, Result},
    event::{AgentEvent, EventKind},
    message::Msg,
};

/// The events of a reply, in their order, and how it ended.
///
/// Printed, it shows one event per line, in the language of [`Expected`]: a good line can be copied into the test.
///
/// ```
/// use cepa_core::{Agent, testing::{EventLog, ScriptedModel}};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut agent = Agent::builder("Friday").model(ScriptedModel::new(["Hello"])).build()?;
/// let log = EventLog::of(agent.reply("Hi")).await;
///
/// log.assert(["REPLY_START Friday", "...", "TEXT_BLOCK_DELTA Hello", "...", "REPLY_END completed"]);
/// log.only(["TEXT_BLOCK_START", "TEXT_BLOCK_DELTA", "TEXT_BLOCK_END"])
///     .assert(["TEXT_BLOCK_START", "TEXT_BLOCK_DELTA Hello", "TEXT_BLOCK_END"]);
/// assert_eq!(log.text(), "Hello");
///
/// let difference = log.difference(["REPLY_START Saturday", "..."]).unwrap();
/// assert!(difference.contains("- REPLY_START Saturday"));
/// assert!(difference.contains(". REPLY_START Friday"));
///
/// assert_eq!(log.into_outcome()?.text().as_deref(), Some("Hello"));
/// # Ok(()) }
/// ```
#[derive(Debug, Default)]
pub struct EventLog {
    events: Vec<AgentEvent>,
    outcome: Option<Result<Msg>>,
}

impl EventLog {
    /// Runs a reply to its end.
    pub async fn of(call: ReplyCall<'_>) -> Self {
        Self::of_stream(call.stream()).await
    }

    /// Reads what is left of a reply.
    pub async fn of_stream(mut stream: ReplyStream<'_>) -> Self {
        let mut events = Vec::new();
        while let Some(event) = stream.next().await {
            events.push(event);
        }
        Self { events, outcome: Some(stream.finish().await) }
    }

    /// The events.
    #[must_use]
    pub fn events(&self) -> &[AgentEvent] {
        &self.events
    }

    /// How the reply ended; `None` for a log that was not made of a reply.
    #[must_use]
    pub const fn outcome(&self) -> Option<&Result<Msg>> {
        self.outcome.as_ref()
    }

    /// The reply's message.
    ///
    /// # Errors
    /// What ended the reply, or that the log was not made of one.
    pub fn into_outcome(self) -> Result<Msg> {
        self.outcome.unwrap_or_else(|| Err(Error::other("the log was not made of a reply")))
    }

    /// The text that was streamed, without tool output.
    #[must_use]
    pub fn text(&self) -> String {
        let deltas = self.events.iter().filter_map(|event| match &event.kind {
            EventKind::TextBlockDelta { delta, .. } => Some(delta.as_str()),
            _ => None,
        });
        deltas.collect()
    }

    /// The events of these types, as a log of their own.
    #[must_use]
    pub fn only<'a>(&self, types: impl IntoIterator<Item = &'a str>) -> Self {
        let types: Vec<_> = types.into_iter().collect();
        self.events.iter().filter(|event| types.contains(&event.event_type())).cloned().collect()
    }

    /// Fails the test if the events are not these, from the first to the last.
    ///
    /// # Panics
    /// With the [`difference`](Self::difference).
    #[track_caller]
    pub fn assert<E: Into<Expected>>(&self, expected: impl IntoIterator<Item = E>) {
        let difference = self.difference(expected);
        assert!(difference.is_none(), "{}", difference.unwrap_or_default());
    }

    /// What is not as expected: all lines, `-` before an expectation that is missing, `+` before an event that is not
    /// expected, `.` before one that `...` stands for. `None` if everything is as expected.
    #[must_use]
    pub fn difference<E: Into<Expected>>(&self, expected: impl IntoIterator<Item = E>) -> Option<String> {
        let expected: Vec<Expected> = expected.into_iter().map(Into::into).collect();
        let lines: Vec<_> = self.events.iter().map(EventLine::of).collect();
        let steps = align(
            expected.len(),
            lines.len(),
            |e| expected[e].is_anything(),
            |e, event| expected[e].fits(&lines[event]),
        );
        let is_wrong = |step: &Step| matches!(step, Step::Missing { .. } | Step::Unexpected { .. });
        if !steps.iter().any(is_wrong) {
            return None;
        }
        let mut shown =
            String::from("the events are not as expected (- is missing, + is not expected, . is any):\n");
        for step in steps {
            // Writing to a string cannot fail.
            let _ = match step {
                Step::Fits { event } => writeln!(shown, "    {}", lines[event]),
                Step::Covered { event } => writeln!(shown, "  . {}", lines[event]),
                Step::Missing { expected: e } => writeln!(shown, "  - {}", expected[e]),
                Step::Unexpected { event } => writeln!(shown, "  + {}", lines[event]),
            };
        }
        Some(shown)
    }
}

impl FromIterator<AgentEvent> for EventLog {
    fn from_iter<I: IntoIterator<Item = AgentEvent>>(events: I) -> Self {
        Self { events: events.into_iter().collect(), outcome: None }
    }
}

impl fmt::Display for EventLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.events.iter().try_for_each(|event| writeln!(f, "{}", EventLine::of(event)))
    }
}
