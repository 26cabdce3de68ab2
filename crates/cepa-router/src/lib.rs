//! Choosing for Cepa agents: the model of a reply, the tools and the context of a request.
//!
//! [`ModelRouterMiddleware`] has a classifier, a function or a chat model choose among named models, once per reply.
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
