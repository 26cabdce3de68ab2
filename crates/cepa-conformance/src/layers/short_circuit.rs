//! Answers itself.

use std::sync::Arc;

use cepa_core::{
    Acting, ActingInput, AgentEvent, BoxFuture, ChatChunk, ChatResponse, CheckPermission, Compress,
    CompressInput, Cx, EventKind, ModelCall, ModelRequest, Msg, Next, PermissionDecision, PermissionRequest,
    Reasoning, ReasoningInput, Reply, ReplyFinishedReason, ReplyInput, Result, Role, Ticket, ToolChunk,
    ToolResponse, ToolResultState,
};
use serde_json::Value;

use super::{behaviour::Behaviour, options::Options, rewrite::DecisionSpec, step::Step};
use crate::{
    case::{ChunkSpec, OneOrMany, UsageSpec},
    error::RunError,
    models::{delta, usage},
};

/// The id of the reply that an `on_reply` answers with.
const REPLY: &str = "short-reply";
const BLOCK: &str = "short-block";

/// Answers itself: the rest of the chain is not called.
#[derive(Clone)]
pub(super) struct ShortCircuit {
    text: Option<String>,
    /// A chunk of tool output.
    chunk: Option<String>,
    /// Chunks of a model's answer.
    stream: Option<Vec<OneOrMany<ChunkSpec>>>,
    usage: Option<UsageSpec>,
    state: Option<ToolResultState>,
    decision: Option<DecisionSpec>,
    with_events: bool,
}

impl ShortCircuit {
    pub(super) fn new(options: &Options<'_>) -> Result<Self, RunError> {
        Ok(Self {
            text: options.get("text")?,
            chunk: options.raw("chunk").map(chunk_text),
            stream: options.get("stream")?,
            usage: options.get("usage")?,
            state: options.get("state")?,
            decision: options.get("decision")?,
            with_events: options.or_default("with_events")?,
        })
    }

    fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// The events of a reply that is one text.
    async fn send_events(&self, cx: &Cx<Reply>) -> Result<()> {
        let session_id = cx.state()?.session_id.clone();
        let name = cx.agent_name().into();
        let (reply_id, block_id) = (|| REPLY.into(), || BLOCK.into());
        let events = [
            EventKind::ReplyStart {
                reply_id: reply_id(),
                session_id: session_id.clone(),
                name,
                role: Role::Assistant,
            },
            EventKind::TextBlockStart { reply_id: reply_id(), block_id: block_id() },
            EventKind::TextBlockDelta {
                reply_id: reply_id(),
                block_id: block_id(),
                delta: self.text().to_owned(),
            },
            EventKind::TextBlockEnd { reply_id: reply_id(), block_id: block_id(), text: None },
            EventKind::ReplyEnd {
                reply_id: reply_id(),
                session_id,
                finished_reason: ReplyFinishedReason::Completed,
                error: None,
                ticket: Ticket::default(),
            },
        ];
        for event in events {
            cx.emit(AgentEvent::new(event)).await;
        }
        Ok(())
    }

    /// Sends the scripted stream of a model.
    async fn send_stream(&self, stream: &[OneOrMany<ChunkSpec>], cx: &Cx<ModelCall>) -> ChatResponse {
        let mut response = ChatResponse::streamed();
        for chunk in stream {
            let mut deltas = ChatChunk::default();
            for piece in chunk.as_slice() {
                if let Some(spent) = usage(piece.usage) {
                    response.usage = Some(spent);
                }
                if let Some(delta) = delta(&piece.delta) {
                    deltas.push(delta);
                }
            }
            if !deltas.is_empty() {
                cx.emit(deltas).await;
            }
        }
        response
    }
}

fn chunk_text(value: &Value) -> String {
    value.as_str().or(value["text"].as_str()).unwrap_or_default().to_owned()
}

impl Behaviour for ShortCircuit {
    fn on_reply(
        self: Arc<Self>,
        step: Step,
        cx: Cx<Reply>,
        _input: ReplyInput,
        next: Next<Reply>,
    ) -> BoxFuture<'static, Result<Msg>> {
        drop(next);
        Box::pin(async move {
            step.end_with("short_circuit");
            if self.with_events {
                self.send_events(&cx).await?;
            }
            Ok(Msg::assistant(cx.agent_name(), self.text()).with_id(REPLY))
        })
    }

    fn on_reasoning(
        self: Arc<Self>,
        step: Step,
        cx: Cx<Reasoning>,
        _input: ReasoningInput,
        next: Next<Reasoning>,
    ) -> BoxFuture<'static, Result<Option<Msg>>> {
        drop(next);
        Box::pin(async move {
            step.end_with("short_circuit");
            let Some(text) = &self.text else { return Ok(None) };
            let reply_id = cx.state()?.reply_id().clone();
            Ok(Some(Msg::assistant(cx.agent_name(), text.as_str()).with_id(reply_id)))
        })
    }

    fn on_model_call(
        self: Arc<Self>,
        step: Step,
        cx: Cx<ModelCall>,
        _request: ModelRequest,
        next: Next<ModelCall>,
    ) -> BoxFuture<'static, Result<ChatResponse>> {
        drop(next);
        Box::pin(async move {
            step.end_with("short_circuit");
            match &self.stream {
                Some(stream) => Ok(self.send_stream(stream, &cx).await),
                None => Ok(ChatResponse::own_text(self.text()).with_usage(usage(self.usage))),
            }
        })
    }

    fn on_check_permission(
        self: Arc<Self>,
        step: Step,
        _cx: Cx<CheckPermission>,
        request: PermissionRequest,
        next: Next<CheckPermission>,
    ) -> BoxFuture<'static, Result<PermissionDecision>> {
        let decision = self.decision.as_ref().map(DecisionSpec::decision);
        Box::pin(async move {
            match decision {
                Some(decision) => {
                    drop(next);
                    step.end_with("short_circuit");
                    Ok(decision)
                }
                None => next.run(request).await,
            }
        })
    }

    fn on_acting(
        self: Arc<Self>,
        step: Step,
        cx: Cx<Acting>,
        _input: ActingInput,
        next: Next<Acting>,
    ) -> BoxFuture<'static, Result<ToolResponse>> {
        drop(next);
        Box::pin(async move {
            step.end_with("short_circuit");
            let response = match (&self.chunk, &self.text) {
                (Some(chunk), _) => {
                    cx.emit(ToolChunk::text(chunk)).await;
                    ToolResponse::streamed()
                }
                (None, Some(text)) => ToolResponse::text(text),
                (None, None) => ToolResponse::own(Vec::new()),
            };
            Ok(response.with_state(self.state.unwrap_or(ToolResultState::Success)))
        })
    }

    fn on_compress_context(
        self: Arc<Self>,
        step: Step,
        _cx: Cx<Compress>,
        _input: CompressInput,
        next: Next<Compress>,
    ) -> BoxFuture<'static, Result<()>> {
        drop(next);
        step.end_with("short_circuit");
        Box::pin(std::future::ready(Ok(())))
    }
}
