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

/// Calls [`instant`] in so many rounds, then says a word; and once more from the beginning.
#[derive(Debug)]
pub(crate) struct Calls {
    rounds: usize,
    asked: AtomicUsize,
}

impl Calls {
    pub(crate) fn new(rounds: usize) -> Self {
        Self { rounds, asked: AtomicUsize::new(0) }
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
            let chunk = if round == self.rounds {
                ChatChunk::text("done")
            } else {
                ChatChunk::tool_call(format!("c{round}"), "instant", format!(r#"{{"x": {round}}}"#))
            };
            out.emit(chunk).await;
            Ok(ChatResponse::streamed())
        })
    }
}

/// So large that no context is ever compressed.
const CONTEXT_SIZE: u64 = 100_000_000;
