//! Models that answer as the case says.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use cepa_core::{
    BoxFuture, ChatChunk, ChatModel, ChatResponse, ChatUsage, ContentBlock, ContentDelta, DataBlock,
    ErrorType, ModelError, ModelOutlet, ModelRequest, Purpose, Result, Source, TextBlock, ThinkingBlock,
    ToolCallBlock,
};
use serde_json::{Value, json};

use crate::{
    case::{ChunkSpec, DataSpec, DeltaSpec, ModelCallSpec, ModelSpec, RaiseSpec, UsageSpec},
    log::Log,
};

/// The tool by which a model is made to answer with an object.
const STRUCTURED: &str = "generate_structured_output";

/// Shorter than any scripted delay.
const MOMENT: Duration = Duration::from_millis(1);

/// A model whose answers are used up one after the other.
#[derive(Debug)]
pub(crate) struct ScriptedModel {
    label: String,
    spec: ModelSpec,
    log: Log,
    chat: AtomicUsize,
    structured: AtomicUsize,
}

impl ScriptedModel {
    pub(crate) fn new(label: &str, spec: ModelSpec, log: &Log) -> Arc<Self> {
        Arc::new(Self {
            label: label.to_owned(),
            spec,
            log: log.clone(),
            chat: AtomicUsize::new(0),
            structured: AtomicUsize::new(0),
        })
    }

    fn next(&self, structured: bool) -> Result<&ModelCallSpec, ModelError> {
        let (calls, used, what) = if structured {
            (&self.spec.structured_calls, &self.structured, "for objects")
        } else {
            (&self.spec.calls, &self.chat, "for ordinary requests")
        };
        calls.get(used.fetch_add(1, Relaxed)).ok_or_else(|| {
            let message = format!("model `{}` has no answer left {what}", self.label);
            ModelError::new(ErrorType::Internal, message)
        })
    }

    fn record(&self, request: &ModelRequest, purpose: &str) {
        self.log.trace(json!({"core": "model", "model": self.label, "purpose": purpose}));
        let tools: Vec<_> = request.tools.iter().map(|tool| tool.name().to_string()).collect();
        self.log.request(json!({
            "model": self.label,
            "purpose": purpose,
            "messages": json_of(&request.messages),
            "tools": tools,
            "tool_choice": json_of(&request.tool_choice),
        }));
    }

    async fn attempt(&self, request: &ModelRequest, out: &ModelOutlet) -> Result<ChatResponse, ModelError> {
        let structured = is_structured(request);
        self.record(request, if structured { "structured" } else { "chat" });
        let call = self.next(structured)?;
        if request.purpose == Purpose::MemorySelection {
            // It runs beside the reply, which goes on until it waits for something: a paused clock stands still till then.
            tokio::time::sleep(MOMENT).await;
        }
        pause(call.delay_ms, call.hang).await;
        if let Some(raise) = &call.raise {
            return Err(failure(raise));
        }
        if let Some(object) = &call.object {
            return Ok(answer_with(object, request).with_usage(usage(call.usage)));
        }
        if let Some(blocks) = &call.response {
            return Ok(
                ChatResponse::own(blocks.iter().filter_map(block).collect()).with_usage(usage(call.usage))
            );
        }
        let mut answer = ChatResponse::streamed();
        let chunks = call.chunks.iter().flatten();
        for chunk in chunks {
            send(chunk.as_slice(), out, &mut answer).await?;
        }
        Ok(answer)
    }
}

impl ChatModel for ScriptedModel {
    fn name(&self) -> &str {
        &self.spec.name
    }

    fn context_size(&self) -> u64 {
        self.spec.context_size.unwrap_or(32_768)
    }

    fn input_media_types(&self) -> &[&str] {
        &["image/*", "audio/*"]
    }

    fn call(&self, request: ModelRequest, out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
        Box::pin(async move {
            let mut retries = self.spec.max_retries;
            loop {
                match self.attempt(&request, &out).await {
                    Err(error) if error.retryable && retries > 0 && out.sent() == 0 => retries -= 1,
                    result => return Ok(result?),
                }
            }
        })
    }
}

/// Whether an object is asked for.
fn is_structured(request: &ModelRequest) -> bool {
    request.purpose != Purpose::Chat || matches!(&*request.tools, [only] if &**only.name() == STRUCTURED)
}

/// An object, in the way in which it was asked for.
fn answer_with(object: &Value, request: &ModelRequest) -> ChatResponse {
    let object = object.to_string();
    match request.tools.first() {
        Some(tool) => {
            let call = ToolCallBlock::new("structured", tool.name().clone(), object);
            ChatResponse::own(vec![ContentBlock::ToolCall(call)])
        }
        None => ChatResponse::own_text(object),
    }
}

/// Sends one chunk: the deltas that come together.
async fn send(chunk: &[ChunkSpec], out: &ModelOutlet, answer: &mut ChatResponse) -> Result<(), ModelError> {
    let mut deltas = ChatChunk::default();
    for piece in chunk {
        pause(piece.delay_ms, piece.hang).await;
        if let Some(raise) = &piece.raise {
            return Err(failure(raise));
        }
        if let Some(spent) = usage(piece.usage) {
            out.report_usage(spent.clone());
            answer.usage = Some(spent);
        }
        if let Some(whole) = &piece.last
            && out.sent() == 0
        {
            // Nothing was streamed: the last chunk is the answer.
            deltas = whole.iter().filter_map(delta).collect();
        }
        if let Some(delta) = delta(&piece.delta) {
            deltas.push(delta);
        }
    }
    if !deltas.is_empty() {
        out.emit(deltas).await;
    }
    Ok(())
}

/// Waits, or hangs for ever.
pub(crate) async fn pause(delay_ms: u64, hang: bool) {
    if delay_ms > 0 {
        tokio::time::sleep(Duration::from_millis(delay_ms)).await;
    }
    if hang {
        std::future::pending::<()>().await;
    }
}

fn failure(raise: &RaiseSpec) -> ModelError {
    let kind = if raise.is_retryable() { ErrorType::RateLimit } else { ErrorType::Unknown };
    ModelError::new(kind, raise.message.clone())
}

/// A piece of the script as what a model streams.
pub(crate) fn delta(spec: &DeltaSpec) -> Option<ContentDelta> {
    if let Some(text) = &spec.text {
        return Some(ContentDelta::Text { text: text.clone(), id: None });
    }
    if let Some(thinking) = &spec.thinking {
        return ChatChunk::thinking(thinking).deltas().first().cloned();
    }
    if let Some(call) = &spec.tool_call {
        let (id, name) = (call.id.as_str().into(), call.name.as_str().into());
        return Some(ContentDelta::ToolCall { id, name, input: call.input.clone() });
    }
    spec.data.as_ref().map(|data| ContentDelta::Data(data_block(data)))
}

fn block(spec: &DeltaSpec) -> Option<ContentBlock> {
    if let Some(text) = &spec.text {
        return Some(TextBlock::new(text).into());
    }
    if let Some(thinking) = &spec.thinking {
        return Some(ThinkingBlock::new(thinking).into());
    }
    if let Some(call) = &spec.tool_call {
        return Some(ToolCallBlock::new(call.id.as_str(), call.name.as_str(), &call.input).into());
    }
    spec.data.as_ref().map(|data| data_block(data).into())
}

/// A scripted data block.
pub(crate) fn data_block(spec: &DataSpec) -> DataBlock {
    let media_type = spec.media_type.as_str();
    let source = match (&spec.data, &spec.url) {
        (None, Some(url)) => Source::url(url, media_type),
        (data, _) => Source::base64(data.as_deref().unwrap_or_default(), media_type),
    };
    let mut block = DataBlock::new(source);
    block.name.clone_from(&spec.name);
    match &spec.id {
        Some(id) => block.with_id(id.as_str()),
        None => block,
    }
}

/// Scripted tokens.
pub(crate) fn usage(spec: Option<UsageSpec>) -> Option<ChatUsage> {
    let spec = spec?;
    let mut usage = ChatUsage::new(spec.input_tokens, spec.output_tokens, 0.0);
    usage.cache_input_tokens = spec.cache_input_tokens;
    usage.cache_creation_input_tokens = spec.cache_creation_input_tokens;
    Some(usage)
}

/// The JSON of a value whose JSON cannot fail to be written.
pub(crate) fn json_of(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_else(|error| json!({"cannot be written": error.to_string()}))
}
