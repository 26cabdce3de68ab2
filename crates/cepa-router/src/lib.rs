//! Choosing for Cepa agents: the model of a reply, the tools and the context of a request.
#![forbid(unsafe_code)]

mod context_editing;
mod dynamic_context;
mod prompt_cache;
mod tool_selector;

pub use self::{
    context_editing::{ContextEditing, ContextEditingBuilder},
    dynamic_context::{DynamicContext, DynamicContextBuilder, DynamicContextError},
    prompt_cache::PromptCacheHints,
    tool_selector::{Select, ToolSelector, ToolSelectorBuilder, ToolSelectorError},
};
