//! The texts of the tools, and what is said of them. `{name}` is a place to fill.

/// What the system prompt says of the tools.
pub const PROMPT_MEM0_TOOLS: &str = "# Long-term memory\n\nWhat you know from earlier conversations is not all in front of \
     you. Look it up with `search_memory` before you answer something that may hang on it, and keep with `add_memory` what \
     will still matter in a later conversation: who the user is, what they prefer, what was decided. Do not keep what you \
     have just found there.";
/// What `search_memory` does.
pub const TOOL_DESCRIPTION_SEARCH: &str = "Looks up what is remembered from earlier conversations. Each keyword is a \
     search of its own; what they find is put together.";
/// What `add_memory` does.
pub const TOOL_DESCRIPTION_ADD: &str =
    "Remembers facts for later conversations. Only `content` is kept; `thinking` stays in this conversation.";
/// Result of a search without a keyword.
pub const TOOL_MEMORY_NO_KEYWORDS: &str = "There was no keyword to search for.";
/// After what was found, where not every keyword could be searched for.
pub const TOOL_MEMORY_PARTLY: &str = "Not every keyword could be searched for: {error}";
/// Result of an addition.
pub const TOOL_MEMORY_RECORDED: &str = "It is remembered now. Reason given: {rationale}";
/// Result of an addition that mem0 still works on.
pub const TOOL_MEMORY_PENDING: &str =
    "It was taken in, and can be found in a while. Reason given: {rationale}";
/// Result of an addition that failed.
pub const ERROR_MEMORY_ADD: &str = "This could not be remembered: {error}";
/// Result of an addition of nothing.
pub const ERROR_MEMORY_ADD_EMPTY: &str = "`content` holds nothing to remember.";
