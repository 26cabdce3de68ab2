//! A model that follows a script.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use super::{answer::Answer, script::Script};
use crate::{
    chain::BoxFuture,
    error::{ModelError, Result},
    message::ErrorType,
    model::{ChatModel, ChatResponse, ModelOutlet, ModelRequest},
};

/// A model that gives the answers of a script, one per request, and keeps the requests.
///
/// Copies share script and requests, so that a test can keep one to look at. A request for which the script has no
/// answer left fails with a [`ModelError`] that says so and is not worth a retry.
///
/// ```
/// use cepa_core::{Agent, ModelRequest, Msg, generate, testing::{Answer, ScriptedModel}};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new(["How do you do?"]);
/// let mut agent = Agent::builder("Friday").model(model.clone()).build()?;
/// assert_eq!(agent.reply("Hello").await?.text().as_deref(), Some("How do you do?"));
/// assert_eq!(model.requests()[0].messages[1].text().as_deref(), Some("Hello"));
///
/// // Or a function of the request:
/// let model = ScriptedModel::answering(|request| {
///     let said = request.messages.last().and_then(|message| message.text()).unwrap_or_default();
///     Answer::new().text(said.to_uppercase())
/// });
/// let response = generate(&model, ModelRequest::new([Msg::user("user", "Hello")])).await?;
/// assert_eq!(response.text(), "HELLO");
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct ScriptedModel {
    script: Arc<Script<ModelRequest, Answer>>,
    calls: Arc<AtomicUsize>,
    name: Arc<str>,
    context_size: u64,
    streaming: bool,
    input_media_types: Arc<[&'static str]>,
}

impl ScriptedModel {
    /// A model with these answers, in this order.
    pub fn new(answers: impl IntoIterator<Item = impl Into<Answer>>) -> Self {
        Self::with_script(Script::of_list(answers.into_iter().map(Into::into)))
    }

    /// A model that answers each request by this function.
    pub fn answering<A: Into<Answer>>(answer: impl Fn(&ModelRequest) -> A + Send + Sync + 'static) -> Self {
        Self::with_script(Script::of_function(move |request| answer(request).into()))
    }

    fn with_script(script: Script<ModelRequest, Answer>) -> Self {
        Self {
            script: Arc::new(script),
            calls: Arc::default(),
            name: "scripted".into(),
            context_size: 32_768,
            streaming: true,
            input_media_types: Arc::new(["*"]),
        }
    }

    /// The model under another name than `scripted`.
    #[must_use]
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = name.into();
        self
    }

    /// The model with another context size than 32 768 tokens.
    #[must_use]
    pub fn with_context_size(mut self, tokens: u64) -> Self {
        self.context_size = tokens;
        self
    }

    /// The model for messages of these media types only; any by default.
    #[must_use]
    pub fn with_input_media_types(mut self, types: impl IntoIterator<Item = &'static str>) -> Self {
        self.input_media_types = types.into_iter().collect();
        self
    }

    /// The model as one that does not stream: its content comes whole, at the end.
    #[must_use]
    pub fn without_streaming(mut self) -> Self {
        self.streaming = false;
        self
    }

    /// The requests so far, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.script.asked()
    }

    /// How many answers of the list are left.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.script.remaining()
    }
}

impl ChatModel for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn context_size(&self) -> u64 {
        self.context_size
    }

    fn input_media_types(&self) -> &[&str] {
        &self.input_media_types
    }

    fn call(&self, request: ModelRequest, out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
        match self.script.answer(request) {
            Ok(answer) => {
                let call_id = || format!("call_{}", self.calls.fetch_add(1, Relaxed) + 1);
                Box::pin(answer.play(out, self.streaming, call_id))
            }
            Err(number) => {
                let text = format!("the script of model `{}` has no answer for request {number}", self.name);
                let error = ModelError::new(ErrorType::InvalidRequest, text);
                Box::pin(std::future::ready(Err(error.into())))
            }
        }
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel")
            .field("name", &self.name)
            .field("remaining", &self.remaining())
            .finish_non_exhaustive()
    }
}
