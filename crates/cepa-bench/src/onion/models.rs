//! Models that follow a script, inside the process.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use cepa_core::{BoxFuture, ChatChunk, ChatModel, ChatResponse, ModelOutlet, ModelRequest, Result, tool};

/// Streams so many pieces of text.
#[derive(Debug)]
pub(crate) struct Deltas(pub(crate) usize);

impl ChatModel for Deltas {
    fn name(&self) -> &str {
        "deltas"
    }

    fn context_size(&self) -> u64 {
        CONTEXT_SIZE
    }

    fn call(&self, _request: ModelRequest, out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
        Box::pin(async move {
            for _ in 0..self.0 {
                out.emit(ChatChunk::text("tok ")).await;
            }
            Ok(ChatResponse::streamed())
        })
    }
}

/// Takes no time.
#[tool(permission = "allow")]
pub(crate) async fn instant(x: i64) -> String {
    let _ = x;
    "ok".to_owned()
}

/// Calls [`instant`] in so many rounds, then says so many words; and once more from the beginning.
#[derive(Debug)]
pub(crate) struct Calls {
    rounds: usize,
    words: usize,
    asked: AtomicUsize,
}

impl Calls {
    pub(crate) fn new(rounds: usize, words: usize) -> Self {
        Self { rounds, words, asked: AtomicUsize::new(0) }
    }
}

impl ChatModel for Calls {
    fn name(&self) -> &str {
        "calls"
    }

    fn context_size(&self) -> u64 {
        CONTEXT_SIZE
    }

    fn call(&self, _request: ModelRequest, out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
        Box::pin(async move {
            let round = self.asked.fetch_add(1, Relaxed) % (self.rounds + 1);
            if round < self.rounds {
                let arguments = format!(r#"{{"x": {round}}}"#);
                out.emit(ChatChunk::tool_call(format!("c{round}"), "instant", arguments)).await;
            } else {
                for _ in 0..self.words {
                    out.emit(ChatChunk::text("tok ")).await;
                }
            }
            Ok(ChatResponse::streamed())
        })
    }
}

/// So large that no context is ever compressed.
const CONTEXT_SIZE: u64 = 100_000_000;
