//! The texts that this crate writes.

/// What the routing model is to do, by default.
pub const ROUTER_INSTRUCTIONS: &str =
    "You choose which chat model answers a user. Read what the user asks for, and do not answer it.";

/// The routing model's system prompt; `{instructions}` and `{criteria}` are filled in.
pub const PROMPT_MODEL_ROUTER: &str = "{instructions}\n\nThese are the models, each with what it is for. Name the one that \
     fits best:\n{criteria}";

/// What stands where the middle of a long text was left out.
pub const LEFT_OUT: &str = "\n[…]\n";
