//! What `TimingMiddleware` measures and tells. The clock is paused: times are exact.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

#[path = "support/replies.rs"]
mod support;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use cepa_core::{
    ContextConfig, ErrorType, ModelError, Purpose, on_acting, on_model_call, on_reply, on_system_prompt,
    serde_json::{from_str, json},
    testing::{Answer, EventLog, Logged, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_tracing::{Timing, TimingMiddleware, Timings};

use crate::support::{builder, cancelled_soon, last, within, yes};

const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn slow(time: u64) -> Answer {
    Answer::new().delay(seconds(time))
}

fn tool(name: &str, times: impl IntoIterator<Item = u64>) -> ScriptedTool {
    let answers = times.into_iter().map(|time| ToolAnswer::new().delay(seconds(time)).text("done"));
    ScriptedTool::new(name, answers)
}

/// What the events of a log told.
fn told(log: &EventLog) -> Vec<Timings> {
    log.events().iter().filter_map(Timings::of_event).collect()
}

/// Calls, and seconds in sum and at most.
fn figures(timing: Timing) -> (u64, u64, u64) {
    (timing.calls, timing.total.as_secs(), timing.max.as_secs())
}

#[tokio::test(start_paused = true)]
async fn each_hook_and_each_tool_has_its_time_and_those_around_contain_it() {
    let logged = Logged::of("cepa_tracing::timing");
    let waits = on_acting(|_cx, input, next| async move {
        tokio::time::sleep(seconds(5)).await;
        next.run(input).await
    });
    let prompts = on_system_prompt(|_cx, prompt| async move {
        tokio::time::sleep(seconds(7)).await;
        Ok(prompt)
    });
    let model = ScriptedModel::new([slow(2).tool_call("dig", json!({})), slow(3).text("Done.")]);
    let mut agent = builder(&model)
        .tool(tool("dig", [100]))
        .middleware(TimingMiddleware::new())
        .middleware(waits)
        .middleware(prompts)
        .build()
        .unwrap();
    let log = within(EventLog::of(agent.reply("Go"))).await;
    assert_eq!(last(&log, 2), ["CUSTOM cepa.timing", "REPLY_END completed"]);
    let timings = told(&log).remove(0);
    assert_eq!(figures(timings.on_reply), (1, 124, 124));
    assert_eq!(figures(timings.on_reasoning), (2, 5, 3));
    assert_eq!(figures(timings.on_model_call), (2, 5, 3));
    assert_eq!(figures(timings.on_system_prompt), (2, 14, 7));
    assert_eq!(figures(timings.on_check_permission), (1, 0, 0));
    assert_eq!(figures(timings.on_compress_context), (2, 0, 0));
    assert_eq!(figures(timings.on_acting), (1, 105, 105));
    assert_eq!(timings.tools["dig"], timings.on_acting);

    let line = logged.lines().join("");
    let hooks = line.strip_prefix("hooks=").unwrap().strip_suffix(';').unwrap();
    assert_eq!(from_str::<Timings>(hooks).unwrap(), timings);
}

#[tokio::test(start_paused = true)]
async fn tools_side_by_side_have_their_whole_time_each() {
    let model = ScriptedModel::new([
        Answer::new().tool_call("dig", json!({})).tool_call("dig", json!({})).tool_call("fly", json!({})),
        "Done.".into(),
    ]);
    let mut agent = builder(&model)
        .tool(tool("dig", [10, 20]))
        .tool(tool("fly", [20]))
        .middleware(TimingMiddleware::new())
        .build()
        .unwrap();
    let timings = told(&within(EventLog::of(agent.reply("Go"))).await).remove(0);
    assert_eq!(figures(timings.on_reply), (1, 20, 20));
    assert_eq!(figures(timings.on_acting), (3, 50, 20));
    assert_eq!(figures(timings.tools["dig"]), (2, 30, 20));
    assert_eq!(figures(timings.tools["fly"]), (1, 20, 20));
}

#[tokio::test(start_paused = true)]
async fn a_compression_contains_the_call_that_sums_up() {
    let mut config = ContextConfig::default();
    config.summary_template = "{s}".to_owned();
    config.summary_schema = json!({"type": "object", "properties": {"s": {"type": "string"}}});
    let model = ScriptedModel::answering(|request| match request.purpose {
        Purpose::Summary => slow(30).tool_call("generate_structured_output", json!({"s": "short"})),
        _ => slow(1).text("Hi."),
    });
    let model = model.with_context_size(1_000);
    let mut agent =
        builder(&model).context_config(config).middleware(TimingMiddleware::new()).build().unwrap();
    within(agent.reply("word ".repeat(600))).await.unwrap();
    let timings = told(&within(EventLog::of(agent.reply("word ".repeat(600)))).await).remove(0);
    assert_eq!(figures(timings.on_compress_context), (1, 30, 30));
    assert_eq!(figures(timings.on_model_call), (2, 31, 30));
    assert_eq!(figures(timings.on_reasoning), (1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn each_call_of_a_reply_that_waits_has_its_own_times() {
    let model = ScriptedModel::new([slow(2).tool_call("dig", json!({})), slow(3).text("Done.")]);
    let mut agent =
        builder(&model).tool(tool("dig", [10]).asks()).middleware(TimingMiddleware::new()).build().unwrap();
    let log = within(EventLog::of(agent.reply("Go"))).await;
    assert_eq!(last(&log, 2), ["REQUIRE_USER_CONFIRM tool_calls=[", "CUSTOM cepa.timing"]);
    let paused = told(&log).remove(0);
    assert_eq!((figures(paused.on_reply), figures(paused.on_acting)), ((1, 2, 2), (0, 0, 0)));
    tokio::time::sleep(seconds(1_000)).await;
    let answer = yes(&agent);
    let resumed = told(&within(EventLog::of(agent.reply(answer))).await).remove(0);
    assert_eq!((figures(resumed.on_reply), figures(resumed.on_acting)), ((1, 13, 13), (1, 10, 10)));
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_reply_tells_what_it_had_got_to() {
    let model = ScriptedModel::new([Answer::new().text("Half").hangs()]);
    let mut agent = builder(&model).middleware(TimingMiddleware::new()).build().unwrap();
    let log = within(EventLog::of(agent.reply("Go").cancel_on(cancelled_soon()))).await;
    assert_eq!(last(&log, 2), ["CUSTOM cepa.timing", "REPLY_END interrupted"]);
    assert_eq!(figures(told(&log)[0].on_model_call), (1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_reply_whose_layers_are_given_up_tells_what_it_had_got_to() {
    let deaf = on_model_call(|_cx, request, next| async move {
        let response = next.run(request).await;
        std::future::pending::<()>().await;
        response
    });
    let stubborn = on_reply(|_cx, input, next: cepa_core::Next<_>| async move {
        let message = next.run(input).await;
        std::future::pending::<()>().await;
        message
    });
    let model = ScriptedModel::new([Answer::new().text("Half").hangs()]);
    let mut agent = builder(&model)
        .middleware(TimingMiddleware::new())
        .middleware(stubborn)
        .middleware(deaf)
        .build()
        .unwrap();
    let log = within(EventLog::of(agent.reply("Go").cancel_on(cancelled_soon()))).await;
    assert_eq!(last(&log, 2), ["CUSTOM cepa.timing", "REPLY_END interrupted"]);
    assert_eq!(told(&log).len(), 1);
    assert!(told(&log)[0].on_model_call.total > seconds(1), "{:?}", told(&log));
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_fails_tells_what_it_had_got_to() {
    let fails = || slow(4).fails(ModelError::new(ErrorType::Upstream, "overloaded"));
    let model = ScriptedModel::new([fails(), fails()]);
    let mut agent = builder(&model).model_retries(1).middleware(TimingMiddleware::new()).build().unwrap();
    let log = within(EventLog::of(agent.reply("Go"))).await;
    assert_eq!(last(&log, 2), ["CUSTOM cepa.timing", "REPLY_END error"]);
    let timings = told(&log).remove(0);
    assert_eq!((figures(timings.on_reasoning), figures(timings.on_model_call)), ((1, 8, 8), (2, 8, 4)));
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_nobody_listens_to_any_more_is_logged_and_told_to_observers() {
    let logged = Logged::of("cepa_tracing::timing");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let observed = seen.clone();
    let model = ScriptedModel::new([slow(2).text("Half").hangs()]);
    let mut agent = builder(&model)
        .middleware(TimingMiddleware::new())
        .observer(move |event| observed.lock().unwrap().extend(Timings::of_event(event)))
        .build()
        .unwrap();
    let mut stream = agent.reply("Go").stream();
    while let Some(event) = within(stream.next()).await {
        if event.event_type() == "TEXT_BLOCK_DELTA" {
            break;
        }
    }
    drop(stream);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 1);
    assert_eq!((figures(seen[0].on_reply), figures(seen[0].on_model_call)), ((1, 2, 2), (1, 2, 2)));
    assert_eq!(logged.lines().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_to_no_question_is_refused_and_nothing_is_told() {
    let model = ScriptedModel::new([Answer::new().tool_call("dig", json!({}))]);
    let mut agent =
        builder(&model).tool(tool("dig", [10]).asks()).middleware(TimingMiddleware::new()).build().unwrap();
    within(agent.reply("Go")).await.unwrap();
    let mut stale = yes(&agent);
    stale.reply_id = "another".into();
    let log = within(EventLog::of(agent.reply(stale))).await;
    assert_eq!(log.to_string(), "");
    assert!(log.into_outcome().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_layer_reads_what_was_measured_so_far() {
    let seen = Arc::new(Mutex::new(Timings::default()));
    let note = seen.clone();
    let reads = on_acting(move |cx: cepa_core::Cx<_>, input, next: cepa_core::Next<_>| {
        *note.lock().unwrap() = TimingMiddleware::of(&cx);
        next.run(input)
    });
    let model = ScriptedModel::new([slow(2).tool_call("dig", json!({})), "Done.".into()]);
    let mut agent = builder(&model)
        .tool(tool("dig", [10]))
        .middleware(TimingMiddleware::new())
        .middleware(reads)
        .build()
        .unwrap();
    within(agent.reply("Go")).await.unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(figures(seen.on_model_call), (1, 2, 2));
    assert!(seen.on_reply.is_empty() && seen.on_acting.is_empty());
}

#[tokio::test(start_paused = true)]
async fn two_of_them_are_refused_when_the_agent_is_built() {
    let model = ScriptedModel::new(["Hi."]);
    let twice = builder(&model).middleware(TimingMiddleware::new()).middleware(TimingMiddleware::new());
    let error = twice.build().unwrap_err().to_string();
    assert!(error.contains("TimingMiddleware"), "{error}");
}
