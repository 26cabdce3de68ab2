//! The model that follows the script, and looks at what it is asked.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use cepa_core::{
    BoxFuture, ChatChunk, ChatModel, ChatResponse, ChatUsage, ContentBlock, ContentDelta, ErrorType,
    GENERATE_STRUCTURED_OUTPUT, ModelError, ModelOutlet, ModelRequest, Purpose, Result, TextBlock,
    ThinkingBlock, ToolCallBlock, ToolChoiceMode,
};

use super::{
    context::check_pairs,
    script::{Arguments, Call, CallId, End, Piece, Round, Summary, ToolKind},
    tools::{self, name_of},
    world::{World, busy},
};

#[derive(Debug)]
pub(crate) struct Scripted(pub(crate) Arc<World>);

/// Whose requests are as good as the first model's.
#[derive(Debug)]
pub(crate) struct Fallback(pub(crate) Arc<World>);

impl ChatModel for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn context_size(&self) -> u64 {
        if self.0.script.settings.compression.is_some() { 1_200 } else { 1_000_000 }
    }

    fn call(&self, request: ModelRequest, out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
        let world = self.0.clone();
        check(&world, &request);
        Box::pin(busy(world.clone(), async move {
            let forced = request.tool_choice.as_ref().map(|choice| choice.mode.clone());
            if request.purpose == Purpose::Summary {
                return summary(&world);
            }
            if request.purpose != Purpose::Chat || world.calm.load(Relaxed) {
                return Ok(ChatResponse::own_text("done"));
            }
            match world.script.rounds.get(world.next_request()) {
                Some(round) => play(&world, round, &out).await,
                None if matches!(forced, Some(ToolChoiceMode::Tool(_))) => {
                    let id = world.next_id();
                    let call = ToolCallBlock::new(id, GENERATE_STRUCTURED_OUTPUT, r#"{"do": "ok"}"#);
                    Ok(ChatResponse::own(vec![call.into()]))
                }
                None => Ok(ChatResponse::own_text("done")),
            }
        }))
    }
}

impl ChatModel for Fallback {
    fn name(&self) -> &str {
        "fallback"
    }

    fn call(&self, request: ModelRequest, out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
        let world = self.0.clone();
        check(&world, &request);
        Box::pin(busy(world, async move {
            out.emit(ChatChunk::text("fallback")).await;
            Ok(ChatResponse::streamed())
        }))
    }
}

/// What must hold of every request.
fn check(world: &World, request: &ModelRequest) {
    if let Err(violation) = check_pairs(request.messages.iter().map(|msg| &**msg)) {
        let messages = serde_json::to_string(&request.messages).unwrap();
        world.violation(format!("{} request: {violation}\n{messages}", request.purpose));
    }
}

fn summary(world: &World) -> Result<ChatResponse> {
    let answer = match world.script.settings.compression {
        Some(Summary::Fails) if !world.calm.load(Relaxed) => return Err(failure()),
        Some(Summary::Useless) => r#"{"nothing": "of use"}"#,
        _ => concat!(
            r#"{"task_overview": "a", "current_state": "b", "important_discoveries": "c", "#,
            r#""next_steps": "d", "context_to_preserve": "e"}"#
        ),
    };
    let call = ToolCallBlock::new("s", "generate_structured_output", answer);
    Ok(ChatResponse::own(vec![call.into()]).with_usage(ChatUsage::new(3, 2, 0.0)))
}

fn failure() -> cepa_core::Error {
    ModelError::new(ErrorType::Upstream, "the server is on fire").into()
}

async fn play(world: &World, round: &Round, out: &ModelOutlet) -> Result<ChatResponse> {
    let chunks: Vec<ChatChunk> = round.pieces.iter().flat_map(|piece| chunks(world, piece)).collect();
    let usage = ChatUsage::new(10, 5, 0.0);
    if round.end == End::Own {
        let blocks = chunks.iter().flat_map(|chunk| chunk.deltas()).filter_map(whole).collect();
        return Ok(ChatResponse::own(blocks).with_usage(usage));
    }
    for chunk in chunks {
        out.emit(chunk).await;
        if round.end == End::Slow {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    match round.end {
        End::Error => Err(failure()),
        End::Hang => std::future::pending().await,
        End::Streamed | End::Own | End::Slow => Ok(ChatResponse::streamed().with_usage(usage)),
    }
}

/// A delta as a whole block. Of a call in two pieces the second is left out, so that its arguments are cut.
fn whole(delta: &ContentDelta) -> Option<ContentBlock> {
    match delta {
        ContentDelta::Text { text, .. } => Some(TextBlock::new(text.as_str()).into()),
        ContentDelta::Thinking { thinking, .. } => Some(ThinkingBlock::new(thinking.as_str()).into()),
        ContentDelta::ToolCall { name, .. } if name.is_empty() => None,
        ContentDelta::ToolCall { id, name, input } => {
            Some(ToolCallBlock::new(id, name.clone(), input.as_str()).into())
        }
        _ => None,
    }
}

fn chunks(world: &World, piece: &Piece) -> Vec<ChatChunk> {
    let one = |call: &Call| deltas(world, call).into_iter().map(ChatChunk::new).collect();
    match piece {
        Piece::Text(text) => vec![ChatChunk::text(*text)],
        Piece::Thinking(text) => vec![ChatChunk::thinking(*text)],
        Piece::Call(call) => one(call),
        Piece::Empty => vec![ChatChunk::default()],
        Piece::TextAndCall(text, call) => {
            let mut chunks: Vec<ChatChunk> = one(call);
            chunks[0].push(ContentDelta::Text { text: (*text).to_owned(), id: None });
            chunks
        }
        Piece::Calls(first, second) => {
            let (first, second) = (deltas(world, first), deltas(world, second));
            let (mut first, mut second) = (first.into_iter(), second.into_iter());
            let mut chunks = Vec::new();
            loop {
                let chunk: ChatChunk = first.next().into_iter().chain(second.next()).collect();
                if chunk.is_empty() {
                    return chunks;
                }
                chunks.push(chunk);
            }
        }
    }
}

fn deltas(world: &World, call: &Call) -> Vec<ContentDelta> {
    let id = match call.id {
        CallId::Fresh => world.next_id(),
        CallId::Repeated => "same".to_owned(),
        CallId::Empty => String::new(),
    };
    let input = match call.arguments {
        Arguments::Good => format!(r#"{{"do": "{}"}}"#, tools::word_of(call.does)),
        Arguments::Cut => r#"{"do": "o"#.to_owned(),
        Arguments::Empty => String::new(),
        Arguments::NoObject => "[1, 2]".to_owned(),
        Arguments::WrongType => r#"{"do": {"a": 1}}"#.to_owned(),
    };
    let name = match call.tool {
        ToolKind::Unknown => "unknown",
        ToolKind::Structured => GENERATE_STRUCTURED_OUTPUT,
        ToolKind::Compress => "CompressContext",
        kind => name_of(kind),
    };
    let delta = |name: &str, input: &str| ContentDelta::ToolCall {
        id: id.as_str().into(),
        name: name.into(),
        input: input.to_owned(),
    };
    if call.in_two {
        let (first, second) = input.split_at(input.len() / 2);
        vec![delta(name, first), delta("", second)]
    } else {
        vec![delta(name, &input)]
    }
}
