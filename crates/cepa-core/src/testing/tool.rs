//! A tool that follows a script.

use std::{fmt, sync::Arc, time::Duration};

use serde_json::{Map, Value, json};

use super::script::Script;
use crate::{
    chain::BoxFuture,
    error::BoxError,
    message::ToolResultState,
    permission::{PermissionContext, PermissionDecision},
    tool::{Tool, ToolChunk, ToolCx, ToolError, ToolResponse},
};

/// A tool that gives the answers of a script, one per call, and keeps the arguments it was called with.
///
/// Copies share script and arguments. It takes any arguments and runs without asking anybody, unless told otherwise. A
/// call for which the script has no answer left ends the reply with an error that says so.
///
/// ```
/// use cepa_core::{Toolkit, serde_json::{Map, json}, testing::{ScriptedTool, ToolAnswer}};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let weather = ScriptedTool::new("weather", [ToolAnswer::from("sunny"), ToolAnswer::new().fails("no station near")]);
/// let toolkit = Toolkit::new([weather.clone()])?;
/// assert_eq!(toolkit.call("weather", Map::new()).await?.output_text(), "sunny");
/// assert_eq!(weather.calls(), [json!({})]);
/// assert_eq!(weather.remaining(), 1);
///
/// let echo = ScriptedTool::echo("echo");
/// let toolkit = Toolkit::new([echo])?;
/// let arguments = Map::from_iter([("a".to_owned(), json!(1))]);
/// assert_eq!(toolkit.call("echo", arguments).await?.output_text(), r#"{"a":1}"#);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct ScriptedTool {
    script: Arc<Script<Value, ToolAnswer>>,
    name: String,
    schema: Value,
    asks: bool,
    read_only: bool,
    idempotent: bool,
    one_at_a_time: bool,
}

impl ScriptedTool {
    /// A tool with this name and these answers, in this order.
    pub fn new(name: impl Into<String>, answers: impl IntoIterator<Item = impl Into<ToolAnswer>>) -> Self {
        Self::with_script(name, Script::of_list(answers.into_iter().map(Into::into)))
    }

    /// A tool that answers each call by this function of its arguments, a JSON object.
    pub fn answering<A: Into<ToolAnswer>>(
        name: impl Into<String>,
        answer: impl Fn(&Value) -> A + Send + Sync + 'static,
    ) -> Self {
        Self::with_script(name, Script::of_function(move |arguments| answer(arguments).into()))
    }

    /// A tool that answers with its arguments, as JSON text.
    pub fn echo(name: impl Into<String>) -> Self {
        Self::answering(name, Value::to_string)
    }

    fn with_script(name: impl Into<String>, script: Script<Value, ToolAnswer>) -> Self {
        Self {
            script: Arc::new(script),
            name: name.into(),
            schema: json!({"type": "object"}),
            asks: false,
            read_only: false,
            idempotent: false,
            one_at_a_time: false,
        }
    }

    /// The tool with this JSON schema of its arguments.
    #[must_use]
    pub fn with_schema(mut self, schema: Value) -> Self {
        self.schema = schema;
        self
    }

    /// The tool as one that runs only when a person allows it.
    #[must_use]
    pub fn asks(mut self) -> Self {
        self.asks = true;
        self
    }

    /// The tool as one that changes nothing.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// The tool as one that may be tried again when it fails.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }

    /// The tool as one whose calls may not run beside others.
    #[must_use]
    pub fn one_at_a_time(mut self) -> Self {
        self.one_at_a_time = true;
        self
    }

    /// The arguments of the calls so far, oldest first.
    #[must_use]
    pub fn calls(&self) -> Vec<Value> {
        self.script.asked()
    }

    /// How many answers of the list are left.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.script.remaining()
    }
}

impl Tool for ScriptedTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        "Answers from a script."
    }

    fn input_schema(&self) -> &Value {
        &self.schema
    }

    fn is_concurrency_safe(&self) -> bool {
        !self.one_at_a_time
    }

    fn is_read_only(&self) -> bool {
        self.read_only
    }

    fn is_idempotent(&self) -> bool {
        self.idempotent || self.read_only
    }

    fn check_permissions<'a>(
        &'a self,
        _input: &'a Map<String, Value>,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, PermissionDecision> {
        let decision = if self.asks {
            PermissionDecision::ask(format!("Tool `{}` runs only when a person allows it.", self.name))
        } else {
            PermissionDecision::allow("a scripted tool")
        };
        Box::pin(std::future::ready(decision))
    }

    fn call(
        self: Arc<Self>,
        input: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
        match self.script.answer(Value::Object(input)) {
            Ok(answer) => Box::pin(answer.play(cx)),
            Err(number) => {
                let text = format!("its script has no answer for call {number}");
                Box::pin(std::future::ready(Err(ToolError::developer(text))))
            }
        }
    }
}

impl fmt::Debug for ScriptedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedTool")
            .field("name", &self.name)
            .field("remaining", &self.remaining())
            .finish_non_exhaustive()
    }
}

/// One answer of a [`ScriptedTool`]: what happens, in the order in which it is written.
///
/// ```
/// use std::time::Duration;
/// use cepa_core::testing::ToolAnswer;
///
/// let plain: ToolAnswer = "sunny".into();
/// let slow = ToolAnswer::new().text("10 %").delay(Duration::from_secs(60)).text(", 100 %").metadata("files", 3);
/// let broken = ToolAnswer::new().text("half of it").fails("the disk is full");
/// # let _ = (plain, slow, broken);
/// ```
#[derive(Debug, Default)]
#[must_use = "an answer is given to a `ScriptedTool`"]
pub struct ToolAnswer {
    steps: Vec<Step>,
    state: Option<ToolResultState>,
    metadata: Vec<(String, Value)>,
}

#[derive(Debug)]
enum Step {
    Chunk(ToolChunk),
    Delay(Duration),
    Hang,
    Fail(ToolError),
}

impl ToolAnswer {
    /// An answer of nothing.
    pub const fn new() -> Self {
        Self { steps: Vec::new(), state: None, metadata: Vec::new() }
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Streams a chunk.
    pub fn chunk(self, chunk: ToolChunk) -> Self {
        self.step(Step::Chunk(chunk))
    }

    /// Streams a piece of text.
    pub fn text(self, text: impl Into<String>) -> Self {
        self.chunk(ToolChunk::text(text))
    }

    /// Says how the call ends: with success by default.
    pub fn state(mut self, state: ToolResultState) -> Self {
        self.state = Some(state);
        self
    }

    /// Adds an entry of data for the program.
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.push((key.into(), value.into()));
        self
    }

    /// Waits. With `#[tokio::test(start_paused = true)]` this takes no time.
    pub fn delay(self, time: Duration) -> Self {
        self.step(Step::Delay(time))
    }

    /// Never goes on: for interrupts and time limits.
    pub fn hangs(self) -> Self {
        self.step(Step::Hang)
    }

    /// Fails with a message for the model.
    pub fn fails(self, message: impl Into<String>) -> Self {
        self.step(Step::Fail(ToolError::new(message)))
    }

    /// Fails with an error for the developer, which ends the reply.
    pub fn fails_for_developer(self, error: impl Into<BoxError>) -> Self {
        self.step(Step::Fail(ToolError::developer(error)))
    }

    async fn play(self, cx: ToolCx) -> Result<ToolResponse, ToolError> {
        for step in self.steps {
            match step {
                Step::Chunk(chunk) => {
                    cx.emit(chunk).await;
                }
                Step::Delay(time) => tokio::time::sleep(time).await,
                Step::Hang => std::future::pending().await,
                Step::Fail(error) => return Err(error),
            }
        }
        let response = ToolResponse::streamed().with_state(self.state.unwrap_or(ToolResultState::Success));
        let metadata = self.metadata.into_iter();
        Ok(metadata.fold(response, |response, (key, value)| response.with_metadata(key, value)))
    }
}

impl From<&str> for ToolAnswer {
    fn from(text: &str) -> Self {
        Self::new().text(text)
    }
}

impl From<String> for ToolAnswer {
    fn from(text: String) -> Self {
        Self::new().text(text)
    }
}
