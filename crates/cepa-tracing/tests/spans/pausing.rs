//! Replies that are interrupted, that wait, and what the agent asks a model for itself.

use cepa_core::{
    Agent, AgentState, CancelToken, ConfirmResult, ExternalExecutionResultEvent, GENERATE_STRUCTURED_OUTPUT,
    Id, Msg, Purpose, ReplyFinishedReason, SchemaTool, ToolResultBlock, ToolResultState,
    UserConfirmResultEvent,
    serde_json::{self, json},
    testing::{Answer, ScriptedModel, ScriptedTool},
};
use cepa_tracing::{Capture, TracingMiddleware};
use opentelemetry::trace::Status;
use opentelemetry_sdk::trace::SpanData;

use crate::support::{Collector, Spans, attribute, is_cancelled, read_to, traced};

const REPLY: &str = "invoke_agent Friday";
const CHAT: &str = "chat scripted";

#[tokio::test(start_paused = true)]
async fn f46_an_interrupted_reply_says_so() {
    let (collector, _guard) = Collector::listening();
    let model = ScriptedModel::new([Answer::new().text("Once").hangs()]);
    let tracing = TracingMiddleware::new().capture(Capture::full());
    let mut agent = traced(model, tracing).build().unwrap();
    let token = CancelToken::new();
    let mut stream = agent.reply("Go").cancel_on(token.clone()).stream();
    read_to(&mut stream, "TEXT_BLOCK_DELTA").await;
    token.cancel();
    let msg = stream.finish().await.unwrap();
    assert_eq!(msg.finished_reason, Some(ReplyFinishedReason::Interrupted));
    let spans = collector.spans();
    assert_eq!(spans.tree(), [(REPLY, ""), (CHAT, REPLY)]);
    assert!(spans.0.iter().all(is_cancelled));
    assert_eq!(attribute(spans.one(CHAT), "gen_ai.response.finish_reasons"), r#"["interrupted"]"#);
    for span in &spans.0 {
        let messages: serde_json::Value =
            serde_json::from_str(&attribute(span, "gen_ai.output.messages")).unwrap();
        assert_eq!(messages[0]["finish_reason"], "interrupted", "{}", span.name);
    }
}

#[tokio::test]
async fn f46_the_summary_of_a_compression_has_a_span_under_the_reply() {
    let (collector, _guard) = Collector::listening();
    let summary = json!({
        "task_overview": "talk",
        "current_state": "begun",
        "important_discoveries": "none",
        "next_steps": "go on",
        "context_to_preserve": "none",
    });
    let model = ScriptedModel::answering(move |request| match request.purpose {
        Purpose::Summary => Answer::new().tool_call(GENERATE_STRUCTURED_OUTPUT, summary.clone()).usage(30, 7),
        _ => Answer::new().text("Well.").usage(10, 5),
    });
    let mut state = AgentState::new();
    state.context = (0..4).map(|_| Msg::user("user", "long ".repeat(60)).into()).collect();
    let model = model.with_context_size(300);
    let mut agent = traced(model, TracingMiddleware::new()).state(state).build().unwrap();
    agent.reply("Go").await.unwrap();
    let spans = collector.spans();
    assert_eq!(spans.tree(), [(REPLY, ""), (CHAT, REPLY), (CHAT, REPLY)]);
    let purposes: Vec<_> = spans.0.iter().map(|span| attribute(span, "cepa.model_call.purpose")).collect();
    assert_eq!(purposes, ["", "summary", ""]);
    // The reply pays for it.
    assert_eq!(attribute(spans.one(REPLY), "gen_ai.usage.input_tokens"), "40");
}

/// A reply that waits for a person, and another agent that goes on with its state, as on another machine.
fn asks() -> Agent {
    let model = ScriptedModel::new([Answer::new().raw_tool_call("c1", "look", "{}")]);
    let tool = ScriptedTool::echo("look").asks();
    traced(model, TracingMiddleware::new()).tool(tool).build().unwrap()
}

fn goes_on(agent: &Agent) -> Agent {
    let saved = serde_json::to_string(&*agent.state().unwrap()).unwrap();
    let state: AgentState = serde_json::from_str(&saved).unwrap();
    let tool = ScriptedTool::echo("look").asks();
    let model = ScriptedModel::new(["Well."]);
    traced(model, TracingMiddleware::new()).tool(tool).state(state).build().unwrap()
}

fn yes(agent: &Agent) -> UserConfirmResultEvent {
    let waiting = agent.waiting_for().unwrap();
    UserConfirmResultEvent::new(
        waiting.reply_id,
        waiting.confirmations.into_iter().map(ConfirmResult::confirm),
    )
}

/// The two replies: the first one is linked to by the second one, and both are told to be one.
#[track_caller]
fn assert_linked(spans: &Spans) {
    let replies: Vec<&SpanData> = spans.0.iter().filter(|span| span.name == REPLY).collect();
    let [paused, resumed] = replies[..] else { panic!("{:?}", spans.tree()) };
    assert_eq!(paused.links.len(), 0);
    assert_eq!(resumed.links.len(), 1);
    let link = &resumed.links.links[0].span_context;
    assert_eq!(link.trace_id(), paused.span_context.trace_id());
    assert_eq!(link.span_id(), paused.span_context.span_id());
    assert_ne!(resumed.span_context.trace_id(), paused.span_context.trace_id());
    let id = attribute(paused, "agentscope.agent.reply_id");
    assert_eq!(id.len(), 32, "{id}");
    assert_eq!(attribute(resumed, "agentscope.agent.reply_id"), id);
}

#[tokio::test]
async fn f46_a_reply_that_goes_on_links_to_the_trace_in_which_it_was_paused() {
    let (collector, _guard) = Collector::listening();
    let mut agent = asks();
    agent.reply("Go").await.unwrap();
    let mut other = goes_on(&agent);
    let answer = yes(&other);
    other.reply(answer).await.unwrap();
    let spans = collector.spans();
    assert_linked(&spans);
    let pending = attribute(&spans.0[0], "agentscope.agent.hitl_pending_tools");
    assert_eq!(pending, r#"["look"]"#);
    assert_eq!(spans.0[0].status, Status::Ok);
    let resumed = [(REPLY, ""), ("execute_tool look", REPLY), (CHAT, REPLY)];
    assert_eq!(spans.tree()[2..], resumed);
    assert_eq!(attribute(&spans.0[2], "agentscope.agent.incoming_event_type"), "user_confirm_result");
}

#[tokio::test]
async fn f46_the_link_is_there_when_the_reader_leaves_with_the_question() {
    let (collector, _guard) = Collector::listening();
    let mut agent = asks();
    let mut stream = agent.reply("Go").stream();
    read_to(&mut stream, "REQUIRE_USER_CONFIRM").await;
    drop(stream);
    let mut other = goes_on(&agent);
    let answer = yes(&other);
    other.reply(answer).await.unwrap();
    let spans = collector.spans();
    assert_linked(&spans);
    assert_eq!(attribute(&spans.0[0], "agentscope.agent.hitl_pending_tools"), r#"["look"]"#);
}

/// An agent that waits for the result of `look`, call `c1`.
async fn waits() -> (Agent, Id) {
    let model = ScriptedModel::new([Answer::new().raw_tool_call("c1", "look", "{}"), "Well.".into()]);
    let tool = SchemaTool::new("look", "Looks elsewhere.", json!({"type": "object"})).external().allowed();
    let mut agent = traced(model, TracingMiddleware::new()).tool(tool).build().unwrap();
    agent.reply("Go").await.unwrap();
    let reply_id = agent.waiting_for().unwrap().reply_id;
    (agent, reply_id)
}

fn result(call_id: &str, name: &str) -> ToolResultBlock {
    ToolResultBlock::new(call_id, name, "sunny", ToolResultState::Success)
}

#[tokio::test]
async fn f46_a_result_from_elsewhere_links_too() {
    let (collector, _guard) = Collector::listening();
    let (mut agent, reply_id) = waits().await;
    agent.reply(ExternalExecutionResultEvent::new(reply_id, [result("c1", "look")])).await.unwrap();
    assert_linked(&collector.spans());
}

#[tokio::test]
async fn a_result_that_nobody_waits_for_is_no_run_of_a_tool() {
    let (collector, _guard) = Collector::listening();
    let (mut agent, reply_id) = waits().await;
    for (reply_id, results) in [
        (reply_id.clone(), vec![result("c2", "format_disk")]),
        (reply_id.clone(), vec![result("c1", "look"), result("c2", "format_disk")]),
        (Id::new(), vec![result("c1", "look")]),
    ] {
        agent.reply(ExternalExecutionResultEvent::new(reply_id, results)).await.unwrap_err();
    }
    let spans = collector.spans();
    assert!(!spans.0.iter().any(|span| span.name.starts_with("execute_tool")), "{:?}", spans.tree());
    agent.reply(ExternalExecutionResultEvent::new(reply_id, [result("c1", "look")])).await.unwrap();
    assert_eq!(collector.spans().one("execute_tool look").status, Status::Ok);
}
