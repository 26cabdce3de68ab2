//! Setting background tools up.

use std::{collections::BTreeMap, time::Duration};

use super::{BackgroundCalls, BackgroundTools};
use crate::OptionError;

/// Sets [`BackgroundTools`] up.
#[must_use = "nothing is built until `build()`"]
#[derive(Clone, Debug)]
pub struct BackgroundToolsBuilder {
    after: Duration,
    deadline: Duration,
    tools: BTreeMap<String, Option<Duration>>,
    only_named: bool,
    max_running: usize,
    max_output: usize,
    max_results: usize,
    offers_stop: bool,
}

impl Default for BackgroundToolsBuilder {
    fn default() -> Self {
        Self {
            after: Duration::from_secs(10),
            deadline: Duration::from_secs(30 * 60),
            tools: BTreeMap::new(),
            only_named: false,
            max_running: 64,
            max_output: 64 * 1024,
            max_results: 1024,
            offers_stop: true,
        }
    }
}

impl BackgroundToolsBuilder {
    /// How long a call may take before it goes on in the background. 10 s by default.
    pub fn after(mut self, limit: Duration) -> Self {
        self.after = limit;
        self
    }

    /// How long a call of this tool may take before it goes on in the background, also if its calls may not run beside
    /// others otherwise.
    pub fn tool_after(mut self, tool: impl Into<String>, limit: Duration) -> Self {
        self.tools.insert(tool.into(), Some(limit));
        self
    }

    /// Tools whose calls are never moved.
    pub fn never<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.tools.extend(tools.into_iter().map(|tool| (tool.into(), None)));
        self
    }

    /// Whether only tools with a limit of their own are moved. `false` by default.
    pub fn only_named(mut self, only_named: bool) -> Self {
        self.only_named = only_named;
        self
    }

    /// How long a call may take altogether: then it is stopped, and the model is told. Half an hour by default.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// How many calls of all agents may run in the background at once; a further one keeps its reply waiting until there
    /// is a place, or until it ends. 64 by default.
    pub fn max_running(mut self, calls: usize) -> Self {
        self.max_running = calls;
        self
    }

    /// How many bytes of a call's output are kept for the model. 64 KiB by default.
    pub fn max_output(mut self, bytes: usize) -> Self {
        self.max_output = bytes;
        self
    }

    /// How many results may wait for a reply of their session, over all sessions. When there are more, the oldest is given
    /// up, and its session is told that it was lost. 1024 by default.
    pub fn max_results(mut self, results: usize) -> Self {
        self.max_results = results;
        self
    }

    /// Whether the model may stop calls, by the tool `ToolStop`. `true` by default.
    pub fn offers_stop(mut self, offers: bool) -> Self {
        self.offers_stop = offers;
        self
    }

    /// Checks the options and builds the layer.
    ///
    /// # Errors
    /// A number of 0, a time that cannot be, a deadline that is not later than every limit.
    pub fn build(self) -> Result<BackgroundTools, OptionError> {
        OptionError::check_time("after", self.after)?;
        OptionError::check_time("deadline", self.deadline)?;
        for limit in self.tools.values().flatten() {
            OptionError::check_time("tool_after", *limit)?;
        }
        let counts = [
            ("max_running", self.max_running),
            ("max_output", self.max_output),
            ("max_results", self.max_results),
        ];
        for (option, count) in counts {
            OptionError::check_count(option, count as u64)?;
        }
        let longest = self.tools.values().flatten().copied().fold(self.after, Duration::max);
        if self.deadline <= longest {
            let value = format_args!("{:?}", self.deadline).to_string();
            return Err(OptionError::new("deadline", value, "longer than `after` and `tool_after`"));
        }
        // More permits than there can be are as good as that many.
        let calls = BackgroundCalls::new(self.max_running, self.max_results);
        Ok(BackgroundTools {
            after: self.after,
            deadline: self.deadline,
            tools: self.tools,
            only_named: self.only_named,
            most_output: self.max_output,
            offers_stop: self.offers_stop,
            calls,
        })
    }
}
