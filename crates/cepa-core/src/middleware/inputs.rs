//! What the hooks are given.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{
    agent::ContextConfig,
    event::{ExternalExecutionResultEvent, UserConfirmResultEvent, UserInterruptEvent},
    message::{HintBlock, Msg, ToolCallBlock},
    model::{ChatModel, ToolChoice},
    tool::Tool,
};

/// The input of `on_reply`.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ReplyInput {
    /// What the reply answers.
    pub inputs: Inputs,
    /// JSON schema of the structured output that is asked for. Not looked at when a parked reply goes on.
    pub structured_schema: Option<Arc<Value>>,
}

impl ReplyInput {
    /// An input without a schema.
    pub fn new(inputs: impl Into<Inputs>) -> Self {
        Self { inputs: inputs.into(), structured_schema: None }
    }
}

/// What a reply answers.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Inputs {
    /// Nothing new: the agent goes on from its state.
    #[default]
    Nothing,
    /// Messages.
    Messages(Vec<Arc<Msg>>),
    /// A person's answer to the questions of a parked reply.
    UserConfirmResult(UserConfirmResultEvent),
    /// Results of calls that ran elsewhere.
    ExternalExecutionResult(ExternalExecutionResultEvent),
    /// Ends a parked reply: its open calls are closed as interrupted.
    UserInterrupt(UserInterruptEvent),
}

impl Inputs {
    /// The messages, if it is messages.
    pub fn messages(&self) -> &[Arc<Msg>] {
        match self {
            Self::Messages(messages) => messages,
            _ => &[],
        }
    }
}

/// The name under which a plain text speaks.
const USER: &str = "user";

impl From<&str> for Inputs {
    fn from(text: &str) -> Self {
        Msg::user(USER, text).into()
    }
}

impl From<String> for Inputs {
    fn from(text: String) -> Self {
        Msg::user(USER, text).into()
    }
}

impl From<Msg> for Inputs {
    fn from(message: Msg) -> Self {
        Self::Messages(vec![Arc::new(message)])
    }
}

impl From<Vec<Msg>> for Inputs {
    fn from(messages: Vec<Msg>) -> Self {
        Self::Messages(messages.into_iter().map(Arc::new).collect())
    }
}

impl From<()> for Inputs {
    fn from((): ()) -> Self {
        Self::Nothing
    }
}

impl From<UserConfirmResultEvent> for Inputs {
    fn from(event: UserConfirmResultEvent) -> Self {
        Self::UserConfirmResult(event)
    }
}

impl From<ExternalExecutionResultEvent> for Inputs {
    fn from(event: ExternalExecutionResultEvent) -> Self {
        Self::ExternalExecutionResult(event)
    }
}

impl From<UserInterruptEvent> for Inputs {
    fn from(event: UserInterruptEvent) -> Self {
        Self::UserInterrupt(event)
    }
}

/// The input of `on_reasoning`.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ReasoningInput {
    /// Which tool the model may or must call; `None` leaves it to the server.
    pub tool_choice: Option<ToolChoice>,
    /// The model that is asked in this round in place of the agent's own. It has the agent's retries and its fallback,
    /// and is the one that events and the layers' `on_model_call` see; its context should be no smaller than that of
    /// the agent's own, by which the context is compressed.
    pub model: Option<Arc<dyn ChatModel>>,
}

impl ReasoningInput {
    /// An input with this choice.
    pub fn new(tool_choice: impl Into<Option<ToolChoice>>) -> Self {
        Self { tool_choice: tool_choice.into(), model: None }
    }

    /// Has another model asked in this round.
    pub fn with_model(mut self, model: Arc<dyn ChatModel>) -> Self {
        self.model = Some(model);
        self
    }
}

/// The input of `on_check_permission`: copies, so that changing them does not change what runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PermissionRequest {
    /// The call.
    pub tool_call: ToolCallBlock,
    /// The tool it names.
    pub tool: Arc<dyn Tool>,
    /// Its arguments, parsed and checked against the tool's schema.
    pub input: Map<String, Value>,
}

impl PermissionRequest {
    pub(crate) fn new(tool_call: ToolCallBlock, tool: Arc<dyn Tool>, input: Map<String, Value>) -> Self {
        Self { tool_call, tool, input }
    }
}

/// The input of `on_compress_context`.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CompressInput {
    /// Limits and texts to use instead of the agent's own.
    pub config: Option<Arc<ContextConfig>>,
    /// Further instructions for the summary.
    pub instructions: Option<HintBlock>,
    /// Tokens that will be added to the context right after: they count as if they were in it already.
    pub coming: u64,
}
