//! Choosing for Cepa agents: the model of a reply, the tools and the context of a request.
//!
//! | layer | what it does |
//! |---|---|
//! | [`ModelRouterMiddleware`] | has a classifier, a function or a chat model choose among named models, once per reply |
//! | [`ToolSelector`] | has a model pick the tools that a request offers |
//! | [`ContextEditing`] | leaves old tool results out of requests, and keeps them in the session |
//! | [`DynamicContext`] | brings tenant, user, date and more of the caller's into the system prompt |
//! | [`PromptCacheHints`] | marks what a server may cache of a request, and warns where it never can |
#![forbid(unsafe_code)]

mod context_editing;
mod dynamic_context;
mod model_router;
mod prompt_cache;
#[doc(hidden)]
pub mod texts;
mod tool_selector;

pub use self::{
    context_editing::{ContextEditing, ContextEditingBuilder},
    dynamic_context::{DynamicContext, DynamicContextBuilder, DynamicContextError},
    model_router::{
        ChatModelCandidate, ChoiceQuestion, Classifier, ModelRouterBuilder, ModelRouterMiddleware,
        RouterError,
    },
    prompt_cache::PromptCacheHints,
    tool_selector::{Select, ToolSelector, ToolSelectorBuilder, ToolSelectorError},
};
