//! Choosing for Cepa agents: the model of a reply, the tools and the context of a request.
//!
//! [`ModelRouterMiddleware`] has a classifier, a function or a chat model choose among named models, once per reply.
#![forbid(unsafe_code)]

mod model_router;
#[doc(hidden)]
pub mod texts;

pub use self::model_router::{
    ChatModelCandidate, ChoiceQuestion, Classifier, ModelRouterBuilder, ModelRouterMiddleware, RouterError,
};
