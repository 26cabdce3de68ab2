//! Readers that leave.

use std::{thread, time::Duration};

use cepa_core::{
    testing::{Answer, ScriptedModel, ScriptedTool, ToolAnswer},
    tool,
};
use cepa_tracing::TracingMiddleware;
use opentelemetry::trace::Status;
use tracing::{Instrument as _, instrument::WithSubscriber as _};

use crate::support::{Collector, assert_nothing_is_current, attribute, is_cancelled, read_to, traced};

const REPLY: &str = "invoke_agent Friday";
const CHAT: &str = "chat scripted";

fn hangs_in_its_answer() -> ScriptedModel {
    ScriptedModel::new([Answer::new().text("Once").hangs()])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r14_a_stream_that_is_closed_elsewhere_ends_its_spans() {
    let collector = Collector::new();
    let read = async || {
        let agent = traced(hangs_in_its_answer(), TracingMiddleware::new()).build().unwrap();
        let reading = async move {
            let mut stream = agent.into_stream("Go");
            read_to(&mut stream, "TEXT_BLOCK_DELTA").await;
            assert_nothing_is_current();
            stream
        };
        tokio::spawn(reading.with_subscriber(collector.dispatch.clone())).await.unwrap()
    };
    let stream = read().await;
    let closing = async move {
        drop(stream);
        assert_nothing_is_current();
    };
    tokio::spawn(closing.with_subscriber(collector.dispatch.clone())).await.unwrap();
    assert_eq!(collector.spans().tree(), [(REPLY, ""), (CHAT, REPLY)]);

    // Also in a thread that has nothing to do with tasks.
    let (stream, dispatch) = (read().await, collector.dispatch.clone());
    let closing = move || {
        drop(stream);
        assert_nothing_is_current();
    };
    thread::spawn(move || tracing::dispatcher::with_default(&dispatch, closing)).join().unwrap();
    let spans = collector.spans();
    assert_eq!(spans.tree()[2..], [(REPLY, ""), (CHAT, REPLY)]);
    assert!(spans.0.iter().all(is_cancelled));
}

#[tokio::test]
async fn r15_a_reader_who_leaves_ends_all_spans_at_once_and_is_no_error() {
    let (collector, _guard) = Collector::listening();
    let mut agent = traced(hangs_in_its_answer(), TracingMiddleware::new()).build().unwrap();
    let mut stream = agent.reply("Go").stream();
    read_to(&mut stream, "TEXT_BLOCK_DELTA").await;
    drop(stream);
    let spans = collector.spans();
    assert_eq!(spans.tree(), [(REPLY, ""), (CHAT, REPLY)]);
    assert!(spans.0.iter().all(is_cancelled));
}

#[tokio::test]
async fn r15_tools_that_run_end_with_the_stream_that_is_dropped() {
    let (collector, _guard) = Collector::listening();
    let calls = Answer::new().raw_tool_call("c1", "hangs", "{}").raw_tool_call("c2", "hangs", "{}");
    let tool = ScriptedTool::answering("hangs", |_| ToolAnswer::new().text("half").hangs());
    let mut agent = traced(ScriptedModel::new([calls]), TracingMiddleware::new()).tool(tool).build().unwrap();
    let mut stream = agent.reply("Go").stream();
    read_to(&mut stream, "TOOL_RESULT_TEXT_DELTA").await;
    read_to(&mut stream, "TOOL_RESULT_TEXT_DELTA").await;
    drop(stream);
    let spans = collector.spans();
    let tool = "execute_tool hangs";
    assert_eq!(spans.tree(), [(REPLY, ""), (CHAT, REPLY), (tool, REPLY), (tool, REPLY)]);
    assert_eq!(spans.one(CHAT).status, Status::Ok);
    assert!(spans.0.iter().filter(|span| span.name != CHAT).all(is_cancelled));
    let end = |name: &str| spans.0.iter().filter(|span| span.name == name).map(|span| span.end_time).max();
    assert!(end(tool) <= end(REPLY));
}

#[tokio::test(start_paused = true)]
async fn r15_a_reply_that_is_given_up_after_a_time_is_no_error() {
    let (collector, _guard) = Collector::listening();
    let mut agent = traced(hangs_in_its_answer(), TracingMiddleware::new()).build().unwrap();
    tokio::time::timeout(Duration::from_secs(1), agent.reply("Go")).await.unwrap_err();
    let spans = collector.spans();
    assert_eq!(spans.tree(), [(REPLY, ""), (CHAT, REPLY)]);
    assert!(spans.0.iter().all(is_cancelled));
}

/// Leaves a task behind in its span.
#[tool(permission = "allow")]
async fn begin() -> String {
    tokio::spawn(std::future::pending::<()>().in_current_span());
    "begun".to_owned()
}

#[tokio::test]
async fn what_a_tool_leaves_behind_in_its_span_holds_no_span_open() {
    let (collector, _guard) = Collector::listening();
    let model = ScriptedModel::new([Answer::new().raw_tool_call("c1", "begin", "{}"), "Well.".into()]);
    traced(model, TracingMiddleware::new()).tool(begin).build().unwrap().reply("Go").await.unwrap();
    let ended = collector.ended();
    assert_eq!(ended.tree(), [(REPLY, ""), (CHAT, REPLY), ("execute_tool begin", REPLY), (CHAT, REPLY)]);
    assert!(ended.0.iter().all(|span| span.status == Status::Ok));
}

/// Does what it should not.
#[tool(permission = "allow")]
async fn careless() -> String {
    panic!("boom")
}

#[tokio::test]
async fn a_panic_is_an_error() {
    let (collector, _guard) = Collector::listening();
    let model = ScriptedModel::new([Answer::new().raw_tool_call("c1", "careless", "{}")]);
    let mut agent = traced(model, TracingMiddleware::new()).tool(careless).build().unwrap();
    let reply = async move { agent.reply("Go").await.map(drop) };
    let reply = tokio::spawn(reply.with_subscriber(collector.dispatch.clone()));
    assert!(reply.await.unwrap_err().is_panic());
    let spans = collector.spans();
    assert_eq!(spans.one(CHAT).status, Status::Ok);
    for name in [REPLY, "execute_tool careless"] {
        let span = spans.one(name);
        assert_eq!(span.status, Status::error("it was dropped in a panic"));
        assert_eq!(attribute(span, "error.type"), "panic");
    }
}

#[tokio::test]
async fn what_a_server_had_said_is_told_of_a_call_that_was_cut_off() {
    let (collector, _guard) = Collector::listening();
    let model = ScriptedModel::new([Answer::new().reports_usage(70, 7).text("Once").hangs()]);
    let mut agent = traced(model, TracingMiddleware::new()).build().unwrap();
    let mut stream = agent.reply("Go").stream();
    read_to(&mut stream, "TEXT_BLOCK_DELTA").await;
    drop(stream);
    let spans = collector.spans();
    let chat = spans.one(CHAT);
    assert!(is_cancelled(chat));
    assert_eq!(attribute(chat, "gen_ai.usage.input_tokens"), "70");
    assert_eq!(attribute(chat, "gen_ai.usage.output_tokens"), "7");
    assert_ne!(attribute(chat, "gen_ai.response.time_to_first_chunk"), "");
}
