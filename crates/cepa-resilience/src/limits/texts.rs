//! The texts of the limits.

/// For the model, with the last call that is left; `{limit}` and `{per}` are filled in.
pub(crate) const HINT_LAST_MODEL_CALL: &str = "<system-reminder>This is the last model call that the limit of \
     {limit} per {per} allows. Bring this to an end now: answer with what you have, and call no tool.</system-reminder>";

/// As before, when a structured output is owed; `{tool_name}` is filled in too.
pub(crate) const HINT_LAST_MODEL_CALL_STRUCTURED: &str = "<system-reminder>This is the last model call that the limit \
     of {limit} per {per} allows. Bring this to an end now: hand over the structured output with the tool \
     `{tool_name}`, and call no other tool.</system-reminder>";

/// The result of a tool call over the limit; `{what}`, `{limit}` and `{per}` are filled in.
pub(crate) const TOOL_LIMIT: &str = "This call was not run: the limit of {limit} {what} per {per} is reached. Do not \
     try again in this {per}; go on with what you have.";
