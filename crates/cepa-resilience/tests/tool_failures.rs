//! `ToolRetry` and `ToolErrorPolicy` against tools that misbehave.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

use std::time::Duration;

use cepa_core::{
    Agent, AgentBuilder, CancelToken, Error, ErrorKind, EventKind, InjectionConfig, ToolResultState,
    on_acting,
    serde_json::{json, to_string},
    testing::{Answer, EventLog, Logged, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_resilience::{Backoff, OnToolError, ToolErrorPolicy, ToolFailed, ToolRetry, ToolRetryBuilder};
use tokio::time::{Instant, sleep};

const SECOND: Duration = Duration::from_secs(1);

fn builder(tool: &ScriptedTool) -> AgentBuilder {
    let mut injection = InjectionConfig::default();
    injection.inject_runtime_state = false;
    let model = ScriptedModel::new([
        Answer::new().text("I look.").tool_call("look", json!({})),
        Answer::new().text("Done."),
    ]);
    Agent::builder("Friday").model(model).injection_config(injection).tool(tool.clone())
}

fn retry() -> ToolRetryBuilder {
    ToolRetry::builder().backoff(Backoff::new(SECOND, 10 * SECOND).jitter(false))
}

/// The result of the one call: its state and its text.
fn result(agent: &Agent) -> (ToolResultState, String) {
    let state = agent.state().unwrap();
    let content = &state.context.last().unwrap().content;
    let result = content.iter().find_map(|block| block.as_tool_result()).unwrap();
    (result.state, result.output.text().into_owned())
}

/// What the user has seen of the tool's output.
fn shown(log: &EventLog) -> String {
    let deltas = log.events().iter().filter_map(|event| match &event.kind {
        EventKind::ToolResultTextDelta { delta, .. } => Some(delta.as_str()),
        _ => None,
    });
    deltas.collect()
}

#[tokio::test(start_paused = true)]
async fn an_idempotent_tool_is_tried_again_and_failed_attempts_are_not_seen() {
    let look = ScriptedTool::new(
        "look",
        [ToolAnswer::new().fails("503"), ToolAnswer::new().fails("502"), "sunny".into()],
    );
    let mut agent = builder(&look.clone().idempotent()).middleware(retry().build().unwrap()).build().unwrap();
    let begun = Instant::now();
    let log = EventLog::of(agent.reply("Go")).await;
    assert_eq!((shown(&log).as_str(), begun.elapsed()), ("sunny", 3 * SECOND));
    assert_eq!(result(&agent), (ToolResultState::Success, "sunny".into()));
    assert_eq!(look.calls().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn other_tools_are_tried_again_only_when_named() {
    for (named, calls) in [(false, 1), (true, 2)] {
        let look = ScriptedTool::new("look", [ToolAnswer::new().fails("503"), "sunny".into()]);
        let layer = retry().tools(named.then_some("look")).build().unwrap();
        let mut agent = builder(&look).middleware(layer).build().unwrap();
        agent.reply("Go").await.unwrap();
        assert_eq!(look.calls().len(), calls);
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_shown_is_never_shown_again() {
    let half = || ToolAnswer::new().text("half ").delay(SECOND).text("of it ").fails("reset");
    let look = ScriptedTool::new("look", [half(), "whole".into()]).idempotent();
    let mut agent = builder(&look).middleware(retry().build().unwrap()).build().unwrap();
    let log = EventLog::of(agent.reply("Go")).await;
    assert_eq!(shown(&log), "half of it reset");
    assert_eq!(result(&agent), (ToolResultState::Error, "half of it reset".into()));
    assert_eq!(look.remaining(), 1);

    let look = ScriptedTool::new("look", [half(), "whole".into()]).idempotent();
    let mut agent = builder(&look).middleware(retry().hold_output(true).build().unwrap()).build().unwrap();
    let log = EventLog::of(agent.reply("Go")).await;
    assert_eq!(shown(&log), "whole");
}

#[tokio::test(start_paused = true)]
async fn a_flood_is_not_held_back_without_limit() {
    let piece = "x".repeat(100_000);
    let flood = (0..50).fold(ToolAnswer::new(), |answer, _| answer.text(piece.clone())).fails("reset");
    let look = ScriptedTool::new("look", [flood, "whole".into()]).idempotent();
    let mut agent = builder(&look).middleware(retry().hold_output(true).build().unwrap()).build().unwrap();
    let log = EventLog::of(agent.reply("Go")).await;
    assert_eq!(shown(&log).len(), 50 * piece.len() + "reset".len());
    assert_eq!(look.remaining(), 1);
}

#[tokio::test(start_paused = true)]
async fn attempts_and_time_end_and_the_last_failure_is_the_result() {
    for (layer, calls, took) in [
        (retry().attempts(4), 4, 7 * SECOND),
        (retry().attempts(1), 1, Duration::ZERO),
        (retry().attempts(9).deadline(6 * SECOND), 3, 3 * SECOND),
    ] {
        let look = ScriptedTool::answering("look", |_| ToolAnswer::new().fails("503")).read_only();
        let mut agent = builder(&look).middleware(layer.build().unwrap()).build().unwrap();
        let begun = Instant::now();
        let log = EventLog::of(agent.reply("Go")).await;
        assert_eq!((look.calls().len(), begun.elapsed(), shown(&log).as_str()), (calls, took, "503"));
        assert_eq!(result(&agent), (ToolResultState::Error, "503".into()));
    }
}

#[tokio::test(start_paused = true)]
async fn the_caller_says_which_failures_pass() {
    let answers =
        || [ToolAnswer::new().fails("not found"), ToolAnswer::new().fails_for_developer("bug"), "no".into()];
    let look = ScriptedTool::new("look", answers()).idempotent();
    let layer = retry().when(|failure| failure.text != "not found").build().unwrap();
    let mut agent = builder(&look).middleware(layer).build().unwrap();
    agent.reply("Go").await.unwrap();
    assert_eq!((look.calls().len(), result(&agent).1.as_str()), (1, "not found"));

    // A bug is not tried again unless it is said so.
    let look = ScriptedTool::new("look", answers().into_iter().skip(1)).idempotent();
    let mut agent = builder(&look).middleware(retry().build().unwrap()).build().unwrap();
    agent.reply("Go").await.unwrap_err();
    assert_eq!(look.calls().len(), 1);
    let look = ScriptedTool::new("look", answers().into_iter().skip(1)).idempotent();
    let layer = retry().when(|failure| failure.error.is_some()).build().unwrap();
    let mut agent = builder(&look).middleware(layer).build().unwrap();
    agent.reply("Go").await.unwrap();
    assert_eq!(result(&agent), (ToolResultState::Success, "no".into()));
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_ends_the_wait_for_the_next_attempt() {
    let look = ScriptedTool::answering("look", |_| ToolAnswer::new().fails("503")).idempotent();
    let layer = retry().backoff(Backoff::new(60 * SECOND, 60 * SECOND)).build().unwrap();
    let mut agent = builder(&look).middleware(layer).build().unwrap();
    let token = CancelToken::new();
    let later = token.clone();
    tokio::spawn(async move {
        sleep(5 * SECOND).await;
        later.cancel();
    });
    let begun = Instant::now();
    let log = EventLog::of(agent.reply("Go").cancel_on(token)).await;
    log.assert(["...", "REPLY_END interrupted"]);
    assert_eq!((begun.elapsed(), look.calls().len()), (5 * SECOND, 1));
    assert_eq!(result(&agent).0, ToolResultState::Error);
}

#[tokio::test(start_paused = true)]
async fn a_hanging_attempt_that_is_interrupted_is_not_tried_again() {
    let look = ScriptedTool::new("look", [ToolAnswer::new().hangs(), "late".into()]).idempotent();
    let mut agent = builder(&look).middleware(retry().build().unwrap()).build().unwrap();
    let token = CancelToken::new();
    let later = token.clone();
    tokio::spawn(async move {
        sleep(5 * SECOND).await;
        later.cancel();
    });
    agent.reply("Go").cancel_on(token).await.unwrap();
    assert_eq!(look.remaining(), 1);
    assert_eq!(result(&agent).0, ToolResultState::Interrupted);
}

#[tokio::test(start_paused = true)]
async fn a_layer_that_fails_is_not_the_tool() {
    let broken = || {
        on_acting(|_cx, _input, next| async move {
            drop(next);
            Err(Error::other("the layer is broken"))
        })
    };
    let look = ScriptedTool::echo("look").idempotent();
    let policy = ToolErrorPolicy::new().on_developer_error(OnToolError::Tell);
    let mut agent = builder(&look)
        .middleware(policy)
        .middleware(retry().build().unwrap())
        .middleware(broken())
        .build()
        .unwrap();
    let begun = Instant::now();
    let error = agent.reply("Go").await.unwrap_err();
    assert!(error.to_string().contains("the layer is broken"), "{error}");
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

const SECRET: &str = "postgres://app:hunter2@db";

#[tokio::test(start_paused = true)]
async fn hidden_words_are_in_no_event_request_or_state() {
    let ill = || OnToolError::tell_with(|failure| format!("{} is ill", failure.tool));
    for failure in 0..4 {
        let policies = [
            (ToolErrorPolicy::new().on_error(OnToolError::Hide).on_developer_error(ill()), failure == 3),
            (ToolErrorPolicy::new().tool("look", OnToolError::Hide).on_error(ill()), false),
            (ToolErrorPolicy::new().tool("look", ill()).on_error(OnToolError::Raise), true),
        ];
        for (policy, is_ill) in policies {
            let answer = match failure {
                0 => ToolAnswer::new().fails(SECRET),
                1 => ToolAnswer::new().text(SECRET).delay(SECOND).text(SECRET).fails("refused"),
                2 => ToolAnswer::new().metadata("dsn", SECRET).text(SECRET).state(ToolResultState::Error),
                _ => ToolAnswer::new().text(SECRET).fails_for_developer(SECRET),
            };
            let mut agent = builder(&ScriptedTool::new("look", [answer])).middleware(policy).build().unwrap();
            let log = EventLog::of(agent.reply("Go")).await;
            log.assert(["...", "TOOL_RESULT_END error", "...", "REPLY_END completed"]);
            let seen = to_string(log.events()).unwrap() + &to_string(&*agent.state().unwrap()).unwrap();
            assert!(!seen.contains("hunter2"), "failure {failure}: {seen}");
            let told = if is_ill { "look is ill" } else { "The tool failed" };
            assert!(shown(&log).starts_with(told), "{}", shown(&log));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_developers_error_can_be_told_and_is_logged() {
    let warnings = Logged::warnings("cepa_resilience");
    let answer = ToolAnswer::new().text("half").fails_for_developer("no such table");
    let look = ScriptedTool::new("look", [answer]);
    let policy = ToolErrorPolicy::new().on_developer_error(OnToolError::Tell);
    let mut agent = builder(&look).middleware(policy).build().unwrap();
    let log = EventLog::of(agent.reply("Go")).await;
    log.assert(["...", "REPLY_END completed"]);
    assert_eq!(shown(&log), "half\nno such table");
    assert_eq!(result(&agent), (ToolResultState::Error, "half\nno such table".into()));
    assert!(warnings.lines()[0].contains("no such table"));
}

#[tokio::test(start_paused = true)]
async fn a_failure_ends_the_reply_or_fails_it() {
    for answer in [ToolAnswer::new().fails("no money"), ToolAnswer::new().fails_for_developer("no money")] {
        let look = ScriptedTool::new("look", [answer]);
        let policy = ToolErrorPolicy::new().tool("look", OnToolError::End);
        let mut agent = builder(&look).middleware(policy).build().unwrap();
        assert_eq!(agent.reply("Go").await.unwrap().text().as_deref(), Some("I look."));
        assert_eq!(result(&agent), (ToolResultState::Error, "no money".into()));
        // The next reply goes its way.
        assert_eq!(agent.reply("Go on").await.unwrap().text().as_deref(), Some("Done."));
    }
    let look = ScriptedTool::new("look", [ToolAnswer::new().text("so far, ").fails("no money")]);
    let policy = ToolErrorPolicy::new().on_error(OnToolError::Raise);
    let mut agent = builder(&look).middleware(policy).build().unwrap();
    let error = agent.reply("Go").await.unwrap_err();
    let failed = error.downcast_ref::<ToolFailed>().unwrap();
    assert_eq!(failed.to_string(), "tool `look` failed: so far, no money");
    assert_eq!(result(&agent).0, ToolResultState::Error);
}

#[tokio::test(start_paused = true)]
async fn a_time_limit_that_is_an_error_is_a_failure_of_the_tool() {
    let late = || ErrorKind::Timeout { what: "tool `look`".into(), limit: SECOND };
    let slow_then_fine = on_acting(move |_cx, input, next: cepa_core::Next<_>| async move {
        static FIRST: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(true);
        if FIRST.swap(false, std::sync::atomic::Ordering::SeqCst) {
            return Err(late().into());
        }
        next.run(input).await
    });
    let look = ScriptedTool::new("look", ["sunny"]).idempotent();
    let layer = retry().build().unwrap();
    let mut agent = builder(&look).middleware(layer).middleware(slow_then_fine).build().unwrap();
    agent.reply("Go").await.unwrap();
    assert_eq!(result(&agent), (ToolResultState::Success, "sunny".into()));
}

#[test]
fn retries_that_cannot_be_say_why() {
    let error = ToolRetry::builder().attempts(0).build().unwrap_err().to_string();
    assert_eq!(error, "`attempts` is 0, but must be at least 1");
    assert!(ToolRetry::builder().deadline(Duration::ZERO).build().is_err());
}
