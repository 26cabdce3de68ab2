//! Node-style helpers: LangChain's names, one line each over the onion.

use std::future::Future;

use super::{Middleware, closure, on_acting, on_model_call, on_reasoning, on_reply};
use crate::{
    chain::{Acting, Cx, ModelCall, Next, Reasoning, Reply},
    error::Result,
    message::Msg,
    model::{ChatResponse, ModelRequest},
    tool::{ActingInput, ToolResponse},
};

/// Where the loop goes on after a `before_model` or `after_model`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Jump {
    /// As it would have.
    #[default]
    Continue,
    /// To the model: after a model call, one more round whatever the answer was.
    Model,
    /// To the tools: the open calls run; before a model call, without that call.
    Tools,
    /// To the end of the reply: open calls are closed as not run, the last text is the answer.
    End,
}

impl From<()> for Jump {
    fn from((): ()) -> Self {
        Self::Continue
    }
}

impl Cx<Reasoning> {
    /// What a layer returns instead of its round's message to have the loop go on elsewhere.
    ///
    /// # Errors
    /// None today; it is a `Result` so that a hook can return it as it is.
    pub fn jump(&self, jump: Jump, message: Option<Msg>) -> Result<Option<Msg>> {
        match jump {
            Jump::Continue => Ok(message),
            Jump::Model | Jump::Tools => Ok(None),
            Jump::End => {
                self.scope().request_end();
                Ok(message)
            }
        }
    }
}

/// Runs before each reply: `before_agent(|cx| async move { … Ok(()) })`.
pub fn before_agent<F, Fut>(run: F) -> impl Middleware
where
    F: Fn(Cx<Reply>) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<()>> + Send + 'static,
{
    on_reply(move |cx, input, next| {
        let before = run(cx);
        async move {
            before.await?;
            next.run(input).await
        }
    })
}

/// Runs after each reply and may change its message: `after_agent(|cx, msg| async move { Ok(msg) })`.
pub fn after_agent<F, Fut>(run: F) -> impl Middleware
where
    F: Fn(Cx<Reply>, Msg) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<Msg>> + Send + 'static,
{
    on_reply(move |cx, input, next| {
        let run = run.clone();
        async move { run(cx, next.run(input).await?).await }
    })
}

/// Runs before each model call; what it returns (nothing, or a [`Jump`]) says where the loop goes on.
///
/// ```
/// use cepa_core::{Jump, before_model};
///
/// let enough = before_model(|cx| async move {
///     let rounds = cx.state()?.reply_context.cur_iter;
///     Ok(if rounds >= 3 { Jump::End } else { Jump::Continue })
/// });
/// # let _ = enough;
/// ```
pub fn before_model<F, Fut, J>(run: F) -> impl Middleware
where
    F: Fn(Cx<Reasoning>) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<J>> + Send + 'static,
    J: Into<Jump> + Send + 'static,
{
    on_reasoning(move |cx, input, next| {
        let before = run(cx.clone());
        async move {
            match before.await?.into() {
                Jump::Continue | Jump::Model => next.run(input).await,
                jump => cx.jump(jump, None),
            }
        }
    })
}

/// Runs after each model call with the message that may be the last one, if there is one; what it returns (nothing,
/// or a [`Jump`]) says where the loop goes on.
pub fn after_model<F, Fut, J>(run: F) -> impl Middleware
where
    F: Fn(Cx<Reasoning>, Option<Msg>) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<J>> + Send + 'static,
    J: Into<Jump> + Send + 'static,
{
    on_reasoning(move |cx, input, next| {
        let run = run.clone();
        async move {
            let message = next.run(input).await?;
            let jump = run(cx.clone(), message.clone()).await?.into();
            cx.jump(jump, message)
        }
    })
}

/// Wraps each model request: [`on_model_call`] under LangChain's name.
pub fn wrap_model_call<F, Fut>(run: F) -> closure::FnLayer<ModelCall, F>
where
    F: Fn(Cx<ModelCall>, ModelRequest, Next<ModelCall>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<ChatResponse>> + Send + 'static,
{
    on_model_call(run)
}

/// Wraps each tool call: [`on_acting`] under LangChain's name.
pub fn wrap_tool_call<F, Fut>(run: F) -> closure::FnLayer<Acting, F>
where
    F: Fn(Cx<Acting>, ActingInput, Next<Acting>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<ToolResponse>> + Send + 'static,
{
    on_acting(run)
}
