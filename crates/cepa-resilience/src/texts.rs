//! The texts that these layers write.

use std::time::Duration;

/// Result of a tool call that got no place in time; `{tool_name}` is filled in.
pub const TOOL_NO_PLACE: &str = "The tool `{tool_name}` did not run: too many calls were running for too long. Try it \
     again later, or go on without it.";

/// Result of a tool call while the tool is not called; `{wait}` and `{tool_name}` are filled in.
pub const TOOL_OFF: &str = "The tool `{tool_name}` did not run: it has failed too often, and is called again {wait}. \
     Go on without it, or tell the user.";

/// Stands for `{wait}` while others try the tool.
pub const WAIT_OF_PROBES: &str = "once it works";

/// Stands for `{wait}`; `{seconds}` is filled in.
pub const WAIT: &str = "in {seconds} seconds at the earliest";

/// Added to the output of a tool call that took too long; `{seconds}` and `{tool_name}` are filled in.
pub const TOOL_TIMED_OUT: &str = "The tool `{tool_name}` was stopped: it took longer than {seconds} seconds. What it \
     had done by then may stand.";

/// Added to the output of a tool call that ran when the reply's time was up; `{tool_name}` is filled in.
pub const TOOL_OUT_OF_TIME: &str = "The tool `{tool_name}` was stopped: the time for this reply is up. What it had done \
     by then may stand.";

/// The answer of a reply whose time was up before the model had said anything.
pub const MSG_OUT_OF_TIME: &str = "My time for this reply is up before I could answer.";

/// What the model is told of a tool that is not called.
pub(crate) fn tool_is_off(tool_name: &str, retry_in: Option<Duration>) -> String {
    let wait = match retry_in {
        // Rounded up, so that it is not too early.
        Some(wait) => WAIT.replace("{seconds}", &wait.as_secs_f64().ceil().to_string()),
        None => WAIT_OF_PROBES.to_owned(),
    };
    TOOL_OFF.replace("{wait}", &wait).replace("{tool_name}", tool_name)
}

/// What the model is told of a tool that took too long.
pub(crate) fn tool_timed_out(tool_name: &str, limit: Duration) -> String {
    TOOL_TIMED_OUT.replace("{seconds}", &limit.as_secs_f64().to_string()).replace("{tool_name}", tool_name)
}
