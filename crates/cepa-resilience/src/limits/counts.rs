//! How many calls there were, as it is kept with the session.

use std::collections::BTreeMap;

use cepa_core::Id;
use serde::{Deserialize, Serialize};

/// Calls of the session and of the reply at hand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Counts {
    session: Tally,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_id: Option<Id>,
    reply: Tally,
    /// The reply at hand is to end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ended: bool,
}

/// Calls altogether, and of those tools that have a limit of their own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Tally {
    total: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tools: BTreeMap<String, u64>,
}

impl Counts {
    /// The counts, with those of another reply set back.
    pub(crate) fn of_reply(&mut self, reply_id: &Id) -> &mut Self {
        if self.reply_id.as_ref() != Some(reply_id) {
            self.reply_id = Some(reply_id.clone());
            self.reply = Tally::default();
            self.ended = false;
        }
        self
    }

    /// Calls in the reply at hand and in the session.
    pub(crate) fn total(&self) -> (u64, u64) {
        (self.reply.total, self.session.total)
    }

    /// Calls of one tool in the reply at hand and in the session.
    pub(crate) fn of_tool(&self, tool: &str) -> (u64, u64) {
        let count = |tally: &Tally| tally.tools.get(tool).copied().unwrap_or(0);
        (count(&self.reply), count(&self.session))
    }

    /// Counts a call, and one of this tool.
    pub(crate) fn add(&mut self, tool: Option<&str>) {
        for tally in [&mut self.reply, &mut self.session] {
            tally.total = tally.total.saturating_add(1);
            if let Some(tool) = tool {
                let count = tally.tools.entry(tool.to_owned()).or_default();
                *count = count.saturating_add(1);
            }
        }
    }

    /// Has the reply at hand end.
    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    /// Whether the reply at hand is to end.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_reply_counts_anew_and_the_session_goes_on() {
        let mut counts = Counts::default();
        counts.of_reply(&"r1".into()).add(Some("grep"));
        counts.of_reply(&"r1".into()).add(None);
        counts.end();
        let saved = serde_json::to_value(&counts).unwrap();
        assert_eq!(
            saved,
            serde_json::json!({
                "session": {"total": 2, "tools": {"grep": 1}},
                "reply_id": "r1",
                "reply": {"total": 2, "tools": {"grep": 1}},
                "ended": true,
            })
        );
        let mut counts: Counts = serde_json::from_value(saved).unwrap();
        assert!(counts.of_reply(&"r1".into()).is_ended());
        let later = counts.of_reply(&"r2".into());
        assert_eq!((later.total(), later.of_tool("grep"), later.is_ended()), ((0, 2), (0, 1), false));
    }
}
