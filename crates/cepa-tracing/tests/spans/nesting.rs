//! Whose child a span is.

use std::{collections::HashSet, thread};

use cepa_core::{
    Agent, BoxFuture, ChatChunk, ChatModel, ChatResponse, Error, ModelOutlet, ModelRequest, Result,
    ToolError, on_reasoning,
    testing::{Answer, ScriptedModel},
    tool,
};
use cepa_tracing::TracingMiddleware;
use tokio::runtime::Handle;
use tracing::{Instrument as _, info_span, instrument::WithSubscriber as _};

use crate::support::{Collector, assert_nothing_is_current, traced};

const REPLY: &str = "invoke_agent Friday";

/// A model that traces its request, as HTTP clients do, and waits between the pieces of its answer.
#[derive(Debug)]
struct Http;

impl ChatModel for Http {
    fn name(&self) -> &str {
        "http"
    }

    fn call(&self, _request: ModelRequest, out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
        Box::pin(async move {
            let request = async {
                for word in ["Once ", "upon ", "a ", "time"] {
                    tokio::task::yield_now().await;
                    out.emit(ChatChunk::text(word)).await;
                }
            };
            request.instrument(info_span!("http POST")).await;
            Ok(ChatResponse::streamed())
        })
    }
}

/// Each event is read in another thread, so that the reply moves.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r16_spans_of_a_model_nest_rightly_while_the_reply_moves_between_threads() {
    let collector = Collector::new();
    let mut stream = traced(Http, TracingMiddleware::new()).build().unwrap().into_stream("Go");
    let mut threads = HashSet::new();
    let runtime = Handle::current();
    loop {
        let (runtime, dispatch) = (runtime.clone(), collector.dispatch.clone());
        let step = thread::spawn(move || {
            let event = runtime.block_on(async { stream.next().await }.with_subscriber(dispatch));
            assert_nothing_is_current();
            (stream, event.is_some(), thread::current().id())
        });
        let (moved, goes_on, thread) = step.join().unwrap();
        stream = moved;
        threads.insert(thread);
        if !goes_on {
            break;
        }
    }
    drop(stream);
    assert!(threads.len() > 8, "{threads:?}");
    let chat = "chat http";
    assert_eq!(collector.spans().tree(), [(REPLY, ""), (chat, REPLY), ("http POST", chat)]);
}

#[tokio::test]
async fn what_a_layer_runs_in_a_task_of_its_own_is_part_of_the_reply() {
    let (collector, _guard) = Collector::listening();
    let spawns = on_reasoning(|_cx, input, next| async move {
        let task = tokio::spawn(async move { next.run(input).await });
        task.await.map_err(Error::other)?
    });
    let model = ScriptedModel::new(["Well."]);
    let mut agent = traced(model, TracingMiddleware::new()).middleware(spawns).build().unwrap();
    agent.reply("Go").await.unwrap();
    assert_eq!(collector.spans().tree(), [(REPLY, ""), ("chat scripted", REPLY)]);
}

/// Asks somebody else.
#[tool(read_only)]
async fn ask_saturday() -> std::result::Result<String, ToolError> {
    let model = ScriptedModel::new(["No idea."]).named("other");
    let saturday = Agent::builder("Saturday").model(model).middleware(TracingMiddleware::new()).build();
    let msg = saturday.map_err(ToolError::developer)?.reply("Well?").await.map_err(ToolError::developer)?;
    Ok(msg.text().unwrap_or_default())
}

#[tokio::test]
async fn an_agent_inside_of_a_tool_is_part_of_the_tools_span_and_all_are_part_of_the_callers() {
    let (collector, _guard) = Collector::listening();
    let model = ScriptedModel::new([Answer::new().raw_tool_call("c1", "ask_saturday", "{}"), "Well.".into()]);
    let mut agent = traced(model, TracingMiddleware::new()).tool(ask_saturday).build().unwrap();
    async { agent.reply("Go").await }.instrument(info_span!("POST /chat")).await.unwrap();
    let (chat, tool, inner) = ("chat scripted", "execute_tool ask_saturday", "invoke_agent Saturday");
    let expected = [
        ("POST /chat", ""),
        (REPLY, "POST /chat"),
        (chat, REPLY),
        (tool, REPLY),
        (inner, tool),
        ("chat other", inner),
        (chat, REPLY),
    ];
    assert_eq!(collector.spans().tree(), expected);
}
