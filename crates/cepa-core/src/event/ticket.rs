//! [`Ticket`]: how the agent learns whether a reply's end was let through.

use std::{fmt, sync::Arc};

/// Travels with the end of a reply, so that the agent can see whether a layer dropped it.
///
/// A copy of an event carries no ticket: a copy kept in a log is not the event. The ticket is not part of the
/// event's JSON, and all tickets are equal.
#[derive(Default)]
pub struct Ticket(#[allow(dead_code, reason = "it is there to be dropped")] Option<Arc<()>>);

/// The agent's half of a [`Ticket`].
#[derive(Debug)]
pub(crate) struct Fate(Arc<()>);

impl Ticket {
    /// A ticket and the means to see whether it still exists.
    #[allow(dead_code, reason = "the agent loop is the only user")]
    pub(crate) fn pair() -> (Self, Fate) {
        let shared = Arc::new(());
        (Self(Some(Arc::clone(&shared))), Fate(shared))
    }
}

impl Fate {
    /// Whether the ticket is gone.
    #[allow(dead_code, reason = "the agent loop is the only user")]
    pub(crate) fn dropped(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }
}

impl Clone for Ticket {
    fn clone(&self) -> Self {
        Self(None)
    }
}

impl PartialEq for Ticket {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Ticket {}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ticket")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_ticket_itself_counts() {
        let (ticket, fate) = Ticket::pair();
        let copy = ticket.clone();
        assert!(!fate.dropped());
        let moved = ticket;
        assert!(!fate.dropped());
        drop(moved);
        assert!(fate.dropped());
        assert_eq!(copy, Ticket::default());
        assert_eq!(format!("{copy:?}"), "Ticket");
    }
}
