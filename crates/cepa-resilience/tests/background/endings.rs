//! How calls in the background end, and what does not end them.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

use cepa_core::{
    ContentBlock, ToolChunk, ToolResponse, ToolResultState,
    serde_json::json,
    testing::{Answer, EventLog, Logged, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_resilience::{BackgroundTools, Backoff, ToolRetry};
use tokio::time::{Instant, sleep, timeout};

use super::agents::*;

/// Runs a reply, waits for what is in the background, and gives what the next reply is told.
async fn told(tool: ScriptedTool, layer: BackgroundTools) -> String {
    let calls = layer.calls();
    let mut agent = agent(tool, layer);
    agent.reply("Go").await.unwrap();
    calls.all_finished(3600 * SECOND).await.unwrap();
    agent.reply("And?").await.unwrap();
    let [hint] = hints(&agent).try_into().unwrap();
    hint
}

#[tokio::test(start_paused = true)]
async fn failures_are_told_and_those_for_the_developer_logged() {
    let slow = || ToolAnswer::new().text("half").delay(20 * SECOND);
    let failed =
        told(ScriptedTool::new("train", [slow().fails(": no disk")]), background().build().unwrap()).await;
    assert!(failed.contains("has failed") && failed.contains("half: no disk"), "{failed}");
    let warnings = Logged::warnings("cepa_resilience");
    let tool = ScriptedTool::new("train", [slow().fails_for_developer("no such table")]);
    let broken = told(tool, background().build().unwrap()).await;
    assert!(broken.contains("broken off by an error") && broken.contains("no such table"), "{broken}");
    assert!(warnings.lines()[0].contains("no such table"));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_is_stopped_at_its_deadline() {
    let begun = Instant::now();
    let hangs = ScriptedTool::new("train", [ToolAnswer::new().text("loss 0.9").hangs()]);
    let hint = told(hangs, background().build().unwrap()).await;
    assert_eq!(begun.elapsed(), 60 * SECOND);
    assert!(hint.contains("took too long") && hint.contains("loss 0.9"), "{hint}");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_panics_is_told_as_broken_off_and_gives_its_place_back() {
    let layer = Arc::new(background().max_running(1).build().unwrap());
    let calls = layer.calls();
    for _ in 0..2 {
        let panics = Does::new(|_| async {
            sleep(20 * SECOND).await;
            std::panic::resume_unwind(Box::new("on purpose"))
        });
        let mut agent = builder(&trains()).tool(panics).middleware(layer.clone()).build().unwrap();
        agent.reply("Go").await.unwrap();
        calls.all_finished(3600 * SECOND).await.unwrap();
        agent.reply("And?").await.unwrap();
        assert!(hints(&agent)[0].contains("has no result"), "{:?}", hints(&agent));
    }
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_ends_a_call_before_it_is_moved_and_not_after() {
    let layer = Arc::new(background().build().unwrap());
    let calls = layer.calls();
    let mut early = agent(train(30 * SECOND), layer.clone());
    EventLog::of(early.reply("Go").cancel_on(cancelled_after(5 * SECOND)))
        .await
        .assert(["...", "REPLY_END interrupted"]);
    assert_eq!(result(&early).0, ToolResultState::Interrupted);
    assert!(calls.running().is_empty());

    // The model hangs, the reply is interrupted, and the call goes on.
    let model = ScriptedModel::new([
        Answer::new().tool_call("train", json!({})),
        Answer::new().text("Hm").hangs(),
        Answer::new().text("Trained."),
    ]);
    let mut late = builder(&model).tool(train(30 * SECOND)).middleware(layer).build().unwrap();
    EventLog::of(late.reply("Go").cancel_on(cancelled_after(15 * SECOND)))
        .await
        .assert(["...", "REPLY_END interrupted"]);
    assert_eq!(calls.running().len(), 1);
    calls.all_finished(60 * SECOND).await.unwrap();
    late.reply("And?").await.unwrap();
    assert!(hints(&late)[0].contains("has ended") && hints(&late)[0].contains("98 %"), "{:?}", hints(&late));
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_is_dropped_leaves_the_call_and_a_valid_state() {
    for (seconds, moved) in [(5, 0), (15, 1)] {
        let layer = background().build().unwrap();
        let calls = layer.calls();
        let hangs = (moved == 1).then(|| Answer::new().hangs());
        let begins = Answer::new().tool_call("train", json!({}));
        let script = [begins].into_iter().chain(hangs).chain([Answer::new().text("Done.")]);
        let model = ScriptedModel::new(script);
        let mut agent = builder(&model).tool(train(30 * SECOND)).middleware(layer).build().unwrap();
        timeout(seconds * SECOND, agent.reply("Go").into_future()).await.unwrap_err();
        assert_eq!(calls.running().len(), moved);
        calls.all_finished(60 * SECOND).await.unwrap();
        // Each call has its result.
        let expected = if moved == 1 { ToolResultState::Success } else { ToolResultState::Interrupted };
        assert_eq!(result(&agent).0, expected);
        agent.reply("And?").await.unwrap();
        assert_eq!(hints(&agent).len(), moved);
    }
}

#[tokio::test(start_paused = true)]
async fn the_program_stops_calls_and_the_model_is_told() {
    let dropped = Arc::new(AtomicBool::new(false));
    struct SaysSo(Arc<AtomicBool>);
    impl Drop for SaysSo {
        fn drop(&mut self) {
            self.0.store(true, SeqCst);
        }
    }
    let flag = dropped.clone();
    let hangs = Does::new(move |cx| {
        let guard = SaysSo(flag.clone());
        async move {
            cx.emit(ToolChunk::text("loss 0.9")).await;
            std::future::pending::<()>().await;
            drop(guard);
            Ok(ToolResponse::streamed())
        }
    });
    let layer = background().build().unwrap();
    let calls = layer.calls();
    let mut agent = builder(&trains()).tool(hangs).middleware(layer).build().unwrap();
    agent.reply("Go").await.unwrap();
    assert!(!calls.stop(&"another".into()));
    assert!(calls.stop(&calls.running()[0].id));
    calls.all_finished(SECOND).await.unwrap();
    // What it held is dropped by then.
    assert!(dropped.load(SeqCst));
    agent.reply("And?").await.unwrap();
    assert!(hints(&agent)[0].contains("was stopped") && hints(&agent)[0].contains("loss 0.9"));
    assert_eq!((calls.stop_all(), calls.stop_session(&session(&agent))), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn the_model_stops_calls_of_its_own_session() {
    // It stops whatever id the last placeholder names.
    let model = || {
        ScriptedModel::answering(|request| {
            let blocks = request.messages.iter().flat_map(|message| &message.content);
            let results: Vec<_> = blocks.filter_map(ContentBlock::as_tool_result).collect();
            let id = results.first().and_then(|result| {
                let text = result.output.text().into_owned();
                let id = text.split("(task ").nth(1)?.split(')').next()?;
                Some(id.to_owned())
            });
            match (results.len(), id) {
                (0, _) => Answer::new().tool_call("train", json!({})),
                (1, Some(id)) => Answer::new().tool_call("ToolStop", json!({"task_id": id})),
                _ => Answer::new().text("Stopped."),
            }
        })
    };
    let layer = Arc::new(background().deadline(3600 * SECOND).build().unwrap());
    let calls = layer.calls();
    let hangs = || ScriptedTool::answering("train", |_| ToolAnswer::new().hangs());
    let mut agent = builder(&model()).tool(hangs()).middleware(layer.clone()).build().unwrap();
    let log = EventLog::of(agent.reply("Go")).await;
    log.assert([
        "...",
        "TOOL_RESULT_END success",
        "...",
        "TOOL_RESULT_END success",
        "...",
        "REPLY_END completed",
    ]);
    calls.all_finished(SECOND).await.unwrap();
    agent.reply("And?").await.unwrap();
    // It knows already.
    assert_eq!(hints(&agent), [""; 0]);
    assert_eq!(calls.results_in(&session(&agent)), 0);

    // Another session has no way to it.
    let mut first = super::agents::agent(hangs(), layer.clone());
    first.reply("Go").await.unwrap();
    let id = calls.running()[0].id.to_string();
    let steals = ScriptedModel::new([
        Answer::new().tool_call("ToolStop", json!({"task_id": id})),
        Answer::new().text("No."),
    ]);
    let mut second = builder(&steals).middleware(layer).build().unwrap();
    second.reply("Go").await.unwrap();
    assert_eq!(result(&second).0, ToolResultState::Error);
    assert_eq!(calls.running().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_retry_inside_goes_on_in_the_background() {
    let fails = || ToolAnswer::new().delay(15 * SECOND).fails("503");
    let tool = ScriptedTool::new("train", [fails(), fails(), "98 %".into()]).idempotent();
    let backoff = Backoff::new(SECOND, SECOND).jitter(false);
    let layer = background().build().unwrap();
    let calls = layer.calls();
    let mut agent = builder(&trains())
        .tool(tool)
        .middleware(layer)
        .middleware(ToolRetry::builder().backoff(backoff).build().unwrap())
        .middleware(cepa_resilience::ToolCallLimit::builder().per_reply(9).build().unwrap())
        .build()
        .unwrap();
    let token = cancelled_after(12 * SECOND);
    agent.reply("Go").cancel_on(token).await.unwrap();
    calls.all_finished(60 * SECOND).await.unwrap();
    agent.reply("And?").await.unwrap();
    assert!(hints(&agent)[0].contains("98 %") && !hints(&agent)[0].contains("503"), "{:?}", hints(&agent));
}
