//! Options of the time limits.

use std::{collections::BTreeMap, time::Duration};

use super::{AtReplyLimit, Limits, Timeout};
use crate::OptionError;

/// Options of [`Timeout`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct TimeoutBuilder {
    reply: Option<Duration>,
    at_reply_limit: AtReplyLimit,
    reasoning: Option<Duration>,
    model: Limits,
    tool_calls: Option<Duration>,
    tools: BTreeMap<String, Duration>,
}

impl TimeoutBuilder {
    pub(super) fn new() -> Self {
        Self {
            reply: None,
            at_reply_limit: AtReplyLimit::default(),
            reasoning: None,
            model: Limits::default(),
            tool_calls: None,
            tools: BTreeMap::new(),
        }
    }

    /// The time for a reply, from its input to its end or to a pause.
    pub fn reply(mut self, limit: Duration) -> Self {
        self.reply = Some(limit);
        self
    }

    /// What becomes of a reply whose time is up: it ends with what was said, by default.
    pub fn at_reply_limit(mut self, at: AtReplyLimit) -> Self {
        self.at_reply_limit = at;
        self
    }

    /// The time for one round: the model call with all its attempts.
    pub fn reasoning(mut self, limit: Duration) -> Self {
        self.reasoning = Some(limit);
        self
    }

    /// The time for one model call, from the request to the end of the answer.
    pub fn model_call(mut self, limit: Duration) -> Self {
        self.model.whole = Some(limit);
        self
    }

    /// The time for the first part of an answer. Without it, [`idle`](Self::idle) is for the first part as well.
    ///
    /// A model that does not stream answers in one part: give it the time of a whole answer.
    pub fn first_item(mut self, limit: Duration) -> Self {
        self.model.first = Some(limit);
        self
    }

    /// The time between two parts of an answer.
    pub fn idle(mut self, limit: Duration) -> Self {
        self.model.idle = Some(limit);
        self
    }

    /// The time for a tool call, of tools that have no limit of their own.
    pub fn tool_calls(mut self, limit: Duration) -> Self {
        self.tool_calls = Some(limit);
        self
    }

    /// The time for a call of this tool.
    pub fn tool(mut self, name: impl Into<String>, limit: Duration) -> Self {
        self.tools.insert(name.into(), limit);
        self
    }

    /// Checks the options and builds the layer.
    ///
    /// # Errors
    /// No limit at all, or times that cannot be.
    pub fn build(self) -> Result<Timeout, OptionError> {
        let limits = [
            ("reply", self.reply),
            ("reasoning", self.reasoning),
            ("model_call", self.model.whole),
            ("first_item", self.model.first),
            ("idle", self.model.idle),
            ("tool_calls", self.tool_calls),
        ];
        let named = self.tools.values().map(|limit| ("tool", Some(*limit)));
        let mut given = limits.into_iter().chain(named).filter_map(|(option, limit)| Some((option, limit?)));
        let mut any = false;
        given.try_for_each(|(option, limit)| {
            any = true;
            OptionError::check_time(option, limit)
        })?;
        if !any {
            return Err(OptionError::new("reply", "not given", "given, or another limit must"));
        }
        Ok(Timeout {
            reply: self.reply,
            at_reply_limit: self.at_reply_limit,
            reasoning: self.reasoning,
            model: self.model,
            tool_calls: self.tool_calls,
            tools: self.tools,
        })
    }
}
