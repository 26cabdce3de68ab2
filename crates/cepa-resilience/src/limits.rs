//! What the limits on calls share: what happens at the end, the error, the counts.

pub(crate) mod counts;
pub(crate) mod texts;

use std::fmt;

/// What happens when a limit on calls is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AtLimit {
    /// The model goes on without: of the model calls, the last one is made without tools and says so; a tool call is
    /// answered with an error result that names the limit.
    #[default]
    Continue,
    /// The reply ends with what was said last, without another model call.
    End,
    /// The reply fails with [`LimitReached`].
    Error,
}

/// What a limit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitPer {
    /// Each reply counts anew; one that was paused goes on counting.
    Reply,
    /// All replies of a session together.
    Session,
}

impl fmt::Display for LimitPer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reply => "reply",
            Self::Session => "session",
        })
    }
}

/// A limit on calls is reached. Find it with [`Error::downcast_ref`](cepa_core::Error::downcast_ref).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the limit of {limit} {} per {per} is reached", what(.tool.as_deref(), *.model))]
#[non_exhaustive]
pub struct LimitReached {
    /// Whether it is a limit on model calls; otherwise it is one on tool calls.
    pub model: bool,
    /// The tool, if the limit is on the calls of one.
    pub tool: Option<String>,
    /// The most calls there may be.
    pub limit: u64,
    /// What the limit is for.
    pub per: LimitPer,
}

fn what(tool: Option<&str>, model: bool) -> String {
    match (tool, model) {
        (Some(tool), _) => format!("calls of tool `{tool}`"),
        (None, true) => "model calls".to_owned(),
        (None, false) => "tool calls".to_owned(),
    }
}

impl LimitReached {
    /// What the limit is on, in words.
    pub(crate) fn what(&self) -> String {
        what(self.tool.as_deref(), self.model)
    }
}

/// The most calls per reply and per session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) reply: Option<u64>,
    pub(crate) session: Option<u64>,
}

impl Limits {
    /// Whether there is none.
    pub(crate) fn is_empty(self) -> bool {
        self.reply.is_none() && self.session.is_none()
    }

    /// The limit that is reached by so many calls, if one is.
    pub(crate) fn reached(self, in_reply: u64, in_session: u64) -> Option<(u64, LimitPer)> {
        let reply = self.reply.filter(|limit| in_reply >= *limit).map(|limit| (limit, LimitPer::Reply));
        let session = || self.session.filter(|limit| in_session >= *limit);
        reply.or_else(|| session().map(|limit| (limit, LimitPer::Session)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_is_reached_says_which_one() {
        let limits = Limits { reply: Some(3), session: Some(10) };
        assert_eq!(limits.reached(2, 9), None);
        assert_eq!(limits.reached(3, 10), Some((3, LimitPer::Reply)));
        assert_eq!(limits.reached(0, 10), Some((10, LimitPer::Session)));
        assert_eq!(Limits::default().reached(5, 5), None);
        let error = LimitReached { model: false, tool: Some("grep".into()), limit: 3, per: LimitPer::Reply };
        assert_eq!(error.to_string(), "the limit of 3 calls of tool `grep` per reply is reached");
    }
}
