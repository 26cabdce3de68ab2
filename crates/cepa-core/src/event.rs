//! Events: what happens in a reply, in the order it happens.

mod data_delta;
mod kind;
mod payload;
mod ticket;
mod wire;

pub use data_delta::DataDelta;
pub use kind::EventKind;
pub use payload::{ConfirmResult, ExternalExecutionResultEvent, UserConfirmResultEvent, UserInterruptEvent};
#[allow(unused_imports, reason = "the agent loop is the only user")]
pub(crate) use ticket::Fate;
pub use ticket::Ticket;

use crate::{fields::Fields, id::Id, time::Timestamp};

/// Something that happened in a reply (AgentScope 2.0.11).
///
/// ```
/// use cepa_core::{AgentEvent, EventKind};
///
/// let event = AgentEvent::new(EventKind::TextBlockDelta {
///     reply_id: "r1".into(),
///     block_id: "b1".into(),
///     delta: "hel".into(),
/// });
/// assert_eq!(event.event_type(), "TEXT_BLOCK_DELTA");
/// let json = serde_json::to_string(&event)?;
/// assert_eq!(serde_json::from_str::<AgentEvent>(&json)?, event);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AgentEvent {
    /// The event's own id.
    pub id: Id,
    /// When it happened.
    pub created_at: Timestamp,
    /// What layers or tools want to tell with it.
    pub metadata: Fields,
    /// What happened.
    pub kind: EventKind,
    /// Fields that this version does not know.
    pub extra: Fields,
}

impl AgentEvent {
    /// An event with a fresh id that happens now.
    pub fn new(kind: impl Into<EventKind>) -> Self {
        Self {
            id: Id::new(),
            created_at: Timestamp::now(),
            metadata: Fields::new(),
            kind: kind.into(),
            extra: Fields::new(),
        }
    }

    /// The event with metadata.
    #[must_use]
    pub fn with_metadata(mut self, metadata: impl Into<Fields>) -> Self {
        self.metadata = metadata.into();
        self
    }

    /// The `type` of the event in JSON.
    #[must_use]
    pub const fn event_type(&self) -> &'static str {
        self.kind.event_type()
    }

    /// The reply the event belongs to; only custom events have none.
    #[must_use]
    pub const fn reply_id(&self) -> Option<&Id> {
        self.kind.reply_id()
    }
}

impl From<EventKind> for AgentEvent {
    fn from(kind: EventKind) -> Self {
        Self::new(kind)
    }
}
