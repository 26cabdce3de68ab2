//! A model that answers with sentences it found. No language model.

mod answer;
mod fill;
mod material;
mod outputs;
mod passages;
mod plan;
mod rank;
mod tools;
mod words;

use std::time::Instant;

use cepa_core::{
    BoxFuture, ChatChunk, ChatModel, ChatResponse, ChatUsage, Id, ModelOutlet, ModelRequest, Result,
    estimate_tokens,
};

use self::{material::Material, plan::Step};

/// A model that answers with sentences it found: in process, without a key and without a download.
///
/// **It is not a language model.** It takes the words of the question, asks the offered tools with them (a search
/// tool first, then one that reads the best hits; a listing only where nothing searches), and answers with the
/// sentences that fit best, word for word, each with its source. When no sentence fits it says so. It never makes
/// anything up, and it does not understand anything either: no reasoning, no arithmetic, no "not".
///
/// It is there so that an agent runs out of the box, on files it has never seen, and for tests and demonstrations
/// that want real tool calls, streams and budgets without a server. Its usage is an estimate.
///
/// What it makes of an agent's tools: it calls those whose name or description says that they search, read or list,
/// and never one that sounds as if it changed something. Tool output is best as lines of `path:line: text`, as
/// JSON objects with a path and a text, or as a file's text. A tool that is forced by `tool_choice` gets arguments
/// made up from its schema and from the best sentences, which also serves structured output.
///
/// ```
/// use std::sync::Arc;
/// use cepa_core::{ModelRequest, Msg, Result, generate};
/// use cepa_models::ExtractiveModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let model = ExtractiveModel::new();
/// let messages = [
///     Msg::user("user", "The pump's warranty ends after 24 months. Its colour is blue."),
///     Msg::user("user", "When does the warranty of the pump end?"),
/// ];
/// let answer = generate(&model, ModelRequest::new(messages)).await?.text();
/// assert!(answer.contains("ends after 24 months"), "{answer}");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct ExtractiveModel {
    sentences: usize,
    context_size: u64,
}

impl Default for ExtractiveModel {
    fn default() -> Self {
        Self::new()
    }
}

impl ExtractiveModel {
    /// The model, with answers of up to three sentences.
    #[must_use]
    pub fn new() -> Self {
        Self { sentences: 3, context_size: 1_000_000 }
    }

    /// The most sentences of an answer; at least one.
    #[must_use]
    pub fn with_sentences(mut self, sentences: usize) -> Self {
        self.sentences = sentences.max(1);
        self
    }

    /// How many tokens the model says it takes. A million by default: there is no real limit.
    #[must_use]
    pub fn with_context_size(mut self, tokens: u64) -> Self {
        self.context_size = tokens;
        self
    }
}

impl ChatModel for ExtractiveModel {
    fn name(&self) -> &str {
        "extractive"
    }

    fn context_size(&self) -> u64 {
        self.context_size
    }

    fn call(&self, request: ModelRequest, out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
        Box::pin(async move {
            let began = Instant::now();
            let input_tokens = estimate_tokens(&request.messages, &request.tools);
            let step = {
                let material = Material::of(&request);
                plan::next_step(&request, &material, self.sentences)
            };
            let mut bytes = 0;
            match step {
                Step::Answer(text) => {
                    for word in words::pieces(&text) {
                        bytes += word.len();
                        out.emit(ChatChunk::text(word)).await;
                    }
                }
                Step::Call(calls) => {
                    for call in calls {
                        let input = call.input.to_string();
                        bytes += input.len();
                        let id = Id::from(format!("call_{}", Id::new()));
                        out.emit(ChatChunk::tool_call(id, call.tool, input)).await;
                    }
                }
            }
            let usage =
                ChatUsage::new(input_tokens, (bytes as u64).div_ceil(4), began.elapsed().as_secs_f64());
            Ok(ChatResponse::streamed().with_usage(usage))
        })
    }
}
