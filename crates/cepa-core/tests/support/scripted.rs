//! A model that says what it is told to, round by round.

use std::{collections::VecDeque, sync::Mutex};

use cepa_core::{BoxFuture, ChatChunk, ChatModel, ChatResponse, ModelOutlet, ModelRequest, Result};

#[derive(Debug)]
pub(crate) struct Scripted {
    pub(crate) context_size: u64,
    rounds: Mutex<VecDeque<Vec<ChatChunk>>>,
}

impl Scripted {
    /// After these rounds it only says `done`.
    pub(crate) fn new(rounds: impl IntoIterator<Item = Vec<ChatChunk>>) -> Self {
        Self { context_size: 32_768, rounds: Mutex::new(rounds.into_iter().collect()) }
    }
}

impl ChatModel for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn context_size(&self) -> u64 {
        self.context_size
    }

    fn call(&self, _request: ModelRequest, out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
        let chunks = self.rounds.lock().unwrap().pop_front();
        Box::pin(async move {
            for chunk in chunks.unwrap_or_else(|| vec![ChatChunk::text("done")]) {
                out.emit(chunk).await;
            }
            Ok(ChatResponse::streamed())
        })
    }
}

/// Rounds of one call each, with the ids `t0`, `t1`, ….
pub(crate) fn calls<'a>(calls: impl IntoIterator<Item = (&'a str, String)>) -> Vec<Vec<ChatChunk>> {
    let calls = calls.into_iter().enumerate();
    calls.map(|(n, (name, input))| vec![ChatChunk::tool_call(format!("t{n}"), name, input)]).collect()
}
