//! The texts that this layer writes.

/// Hint when the budget is spent.
pub const HINT_BUDGET: &str = "<system-reminder>The token budget that the user has set is spent. Bring this to an \
     end now: answer with what you have, and call no further tool.</system-reminder>";

/// Hint when the budget is spent and a structured output is owed; `{tool_name}` is filled in.
pub const HINT_BUDGET_STRUCTURED: &str = "<system-reminder>The token budget that the user has set is spent. Bring \
     this to an end now: hand over the structured output with the tool `{tool_name}`, and call no other \
     tool.</system-reminder>";

/// Hint when the budget is spent and some tools may still be called; `{tool_names}` is filled in.
pub const HINT_BUDGET_TOOLS: &str = "<system-reminder>The token budget that the user has set is spent. Bring this to \
     an end now. Only these tools may still be called: {tool_names}.</system-reminder>";
