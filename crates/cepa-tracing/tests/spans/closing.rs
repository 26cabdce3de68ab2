//! Readers that leave.

use std::{thread, time::Duration};

use cepa_core::testing::{Answer, ScriptedModel, ScriptedTool, ToolAnswer};
use cepa_tracing::TracingMiddleware;
use opentelemetry::trace::Status;
use tracing::instrument::WithSubscriber as _;

use crate::support::{Collector, assert_nothing_is_current, is_cancelled, read_to, traced};

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
