//! A model for machines without a language model.

use std::time::SystemTime;

use cepa::{
    BoxFuture, ChatChunk, ChatModel, ChatResponse, ModelOutlet, ModelRequest, Msg, Result, Role,
    ToolResultState, models::ExtractiveModel,
};
use serde_json::json;

pub(crate) const INTRODUCTION: &str = "This is not a language model: without OPENAI_API_KEY and without a running \
     Ollama, a note taker writes down what it is told, and answers with sentences that its tools find.";

const NOTED: &str = "I will remember that.";
const NOT_NOTED: &str = "That could not be written down.";

/// The tool that a note is written with.
const WRITE: &str = "memory_write";

/// Not a language model. What it is told is written down, where there is a tool for that; a question is answered by the
/// extractive model.
#[derive(Debug, Default)]
pub(crate) struct NoteTaker {
    reader: ExtractiveModel,
}

impl ChatModel for NoteTaker {
    fn name(&self) -> &str {
        "note-taker"
    }

    fn call(&self, request: ModelRequest, out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
        Box::pin(async move {
            let Some(told) = told(&request) else { return self.reader.call(request, out).await };
            let result = request.messages.last().and_then(|msg| msg.tool_results().next().cloned());
            if let Some(result) = result {
                let is_written = result.state == ToolResultState::Success;
                out.emit(ChatChunk::text(if is_written { NOTED } else { NOT_NOTED })).await;
            } else if request.tools.iter().any(|tool| **tool.name() == *WRITE) {
                let words = told.split_whitespace().take(6).collect::<Vec<_>>().join(" ");
                let note = json!({
                    // Each note is a file of its own, also where notes of earlier runs are kept.
                    "file": format!("note_{}.md", now()),
                    "name": "What the user has told",
                    "description": format!("Before something is said about: {words}"),
                    "type": "user",
                    "content": told,
                });
                out.emit(ChatChunk::tool_call("note", WRITE, note.to_string())).await;
            } else {
                out.emit(ChatChunk::text(NOTED)).await;
            }
            Ok(ChatResponse::streamed())
        })
    }
}

/// Nanoseconds since 1970.
fn now() -> u128 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos()
}

/// What the user says last, if it is no question.
fn told(request: &ModelRequest) -> Option<String> {
    let users = |msg: &&std::sync::Arc<Msg>| msg.role == Role::User;
    let said = request.messages.iter().rev().find(users).and_then(|msg| msg.text())?;
    (!said.trim_end().ends_with('?')).then_some(said)
}
