//! What a scripted model answers to one request.

use std::{sync::Arc, time::Duration};

use serde_json::Value;

use crate::{
    error::{Error, ModelError, Result},
    fields::Fields,
    id::Id,
    model::{ChatChunk, ChatResponse, ChatUsage, ContentDelta, FinishedReason, ModelOutlet, ResponseFold},
};

/// One answer of a [`ScriptedModel`](super::ScriptedModel): what happens, in the order in which it is written.
///
/// ```
/// use std::time::Duration;
/// use cepa_core::{ErrorType, ModelError, serde_json::json, testing::Answer};
///
/// let plain: Answer = "Hello".into();
/// let busy = Answer::new().thinking("Two calls will do.").text("Wait.").tool_call("a", json!({})).tool_call("b", json!({}));
/// let cut = Answer::new().text("Once upon").fails(ModelError::new(ErrorType::Connection, "reset"));
/// let slow = Answer::new().delay(Duration::from_secs(5)).text("Done").usage(10, 1);
/// let never = Answer::new().text("Hm").hangs();
/// # let _ = (plain, busy, cut, slow, never);
/// ```
#[derive(Debug)]
#[must_use = "an answer is given to a `ScriptedModel`"]
pub struct Answer {
    steps: Vec<Step>,
    usage: Option<ChatUsage>,
    finished_reason: FinishedReason,
    model: Option<Arc<str>>,
    metadata: Fields,
}

#[derive(Debug)]
enum Step {
    Chunk(ChatChunk),
    /// A tool call whose id is made when it is played.
    ToolCall {
        name: Arc<str>,
        input: String,
    },
    Usage(ChatUsage),
    Delay(Duration),
    Hang,
    Fail(Error),
}

impl Default for Answer {
    fn default() -> Self {
        Self::new()
    }
}

impl Answer {
    /// An answer of nothing.
    pub const fn new() -> Self {
        Self {
            steps: Vec::new(),
            usage: None,
            finished_reason: FinishedReason::Completed,
            model: None,
            metadata: Fields::new(),
        }
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Streams a chunk.
    pub fn chunk(self, chunk: ChatChunk) -> Self {
        self.step(Step::Chunk(chunk))
    }

    /// Streams a piece of text.
    pub fn text(self, text: impl Into<String>) -> Self {
        self.chunk(ChatChunk::text(text))
    }

    /// Streams a text in these pieces.
    pub fn texts(self, texts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        texts.into_iter().fold(self, Self::text)
    }

    /// Streams a piece of thinking.
    pub fn thinking(self, thinking: impl Into<String>) -> Self {
        self.chunk(ChatChunk::thinking(thinking))
    }

    /// Streams a whole tool call. Calls are named `call_1`, `call_2`, … over the whole script of the model.
    pub fn tool_call(self, name: impl Into<Arc<str>>, input: Value) -> Self {
        self.step(Step::ToolCall { name: name.into(), input: input.to_string() })
    }

    /// Streams a whole tool call with an id and with arguments as they are, valid JSON or not.
    pub fn raw_tool_call(
        self,
        id: impl Into<Id>,
        name: impl Into<Arc<str>>,
        input: impl Into<String>,
    ) -> Self {
        self.chunk(ChatChunk::tool_call(id, name, input))
    }

    /// Reports tokens sent and written, at the end of the answer.
    pub fn usage(mut self, input_tokens: u64, output_tokens: u64) -> Self {
        self.usage = Some(ChatUsage::new(input_tokens, output_tokens, 0.0));
        self
    }

    /// Reports tokens sent and written here, in the middle of the answer.
    pub fn reports_usage(self, input_tokens: u64, output_tokens: u64) -> Self {
        self.step(Step::Usage(ChatUsage::new(input_tokens, output_tokens, 0.0)))
    }

    /// Says how the answer ends: completed by default.
    pub fn finished_reason(mut self, reason: FinishedReason) -> Self {
        self.finished_reason = reason;
        self
    }

    /// Says which model has answered: the asked one by default.
    pub fn answered_by(mut self, model: impl Into<Arc<str>>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Adds an entry of metadata to the response.
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
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

    /// Fails: at once if nothing stands before it, in the middle of the stream otherwise.
    pub fn fails(self, error: ModelError) -> Self {
        self.step(Step::Fail(error.into()))
    }

    /// Plays the answer. `call_id` names the calls that have no id yet.
    pub(super) async fn play(
        self,
        out: ModelOutlet,
        streaming: bool,
        call_id: impl Fn() -> String,
    ) -> Result<ChatResponse> {
        let mut whole = ResponseFold::default();
        for step in self.steps {
            let chunk = match step {
                Step::Chunk(chunk) => chunk,
                Step::ToolCall { name, input } => ChatChunk::tool_call(call_id(), name, input),
                Step::Usage(usage) => {
                    out.report_usage(usage);
                    continue;
                }
                Step::Delay(time) => {
                    tokio::time::sleep(time).await;
                    continue;
                }
                Step::Hang => std::future::pending().await,
                Step::Fail(error) => return Err(error),
            };
            if streaming {
                out.emit(chunk).await;
            } else {
                whole.add(&chunk);
            }
        }
        let mut response =
            if streaming { ChatResponse::streamed() } else { ChatResponse::own(whole.into_blocks()) };
        response.usage = self.usage;
        response.finished_reason = self.finished_reason;
        response.model = self.model;
        response.metadata = self.metadata;
        Ok(response)
    }
}

impl From<&str> for Answer {
    fn from(text: &str) -> Self {
        Self::new().text(text)
    }
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self::new().text(text)
    }
}

impl From<ModelError> for Answer {
    fn from(error: ModelError) -> Self {
        Self::new().fails(error)
    }
}

impl FromIterator<ContentDelta> for Answer {
    /// One chunk with these deltas.
    fn from_iter<I: IntoIterator<Item = ContentDelta>>(deltas: I) -> Self {
        Self::new().chunk(deltas.into_iter().collect())
    }
}
