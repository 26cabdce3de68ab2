//! Bounds: how many run, how much is kept, how long it takes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use cepa_core::{
    Middleware, ToolChunk, ToolResponse, ToolResultState,
    serde_json::json,
    testing::{Answer, Logged, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_resilience::{
    BackgroundTools, CircuitBreaker, ConcurrencyLimit, ModelCallLimit, ModelFallback, ModelRetry, RateLimit,
    Timeout, ToolCallLimit, ToolErrorPolicy, ToolRetry,
};
use tokio::time::{Instant, sleep};

use super::agents::*;

#[tokio::test(start_paused = true)]
async fn without_a_place_a_call_keeps_its_reply_waiting() {
    let layer = Arc::new(background().max_running(1).build().unwrap());
    let mut first = agent(train(30 * SECOND), layer.clone());
    first.reply("Go").await.unwrap();
    // The first one ends after 20 s more: the second gets its place then.
    let begun = Instant::now();
    let mut second = agent(train(50 * SECOND), layer.clone());
    second.reply("Go").await.unwrap();
    assert_eq!(begun.elapsed(), 20 * SECOND);
    // A third one ends before there is a place.
    let mut third = agent(train(25 * SECOND), layer.clone());
    third.reply("Go").await.unwrap();
    assert_eq!(result(&third), (ToolResultState::Success, "begun, 98 %".into()));
    // One that is dropped while it waits gives its turn away.
    let mut fourth = agent(train(50 * SECOND), layer.clone());
    tokio::time::timeout(2 * SECOND, fourth.reply("Go").into_future()).await.unwrap_err();
    layer.calls().all_finished(60 * SECOND).await.unwrap();
    let mut fifth = agent(train(50 * SECOND), layer.clone());
    fifth.reply("Go").await.unwrap();
    assert_eq!(layer.calls().running().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_agents_never_have_more_calls_in_the_background_than_may_be() {
    const MOST: usize = 50;
    let layer = Arc::new(background().deadline(100_000 * SECOND).max_running(MOST).build().unwrap());
    let calls = layer.calls();
    let most_seen = Arc::new(AtomicUsize::new(0));
    let runs = (0..1000_u32).map(|number| {
        let (layer, calls, most_seen) = (layer.clone(), calls.clone(), most_seen.clone());
        tokio::spawn(async move {
            let watched = calls.clone();
            let tool = Does::new(move |_| {
                let (calls, most_seen) = (watched.clone(), most_seen.clone());
                async move {
                    for _ in 0..10 {
                        sleep(Duration::from_millis(u64::from(3000 + number % 7))).await;
                        most_seen.fetch_max(calls.running().len(), SeqCst);
                    }
                    Ok(ToolResponse::text("98 %"))
                }
            });
            let mut agent = builder(&trains()).tool(tool).middleware(layer).build().unwrap();
            agent.reply("Go").await.unwrap();
            calls.finished(&session(&agent), 100_000 * SECOND).await.unwrap();
            agent.reply("And?").await.unwrap();
            // Each has its result, by either way.
            usize::from(result(&agent).1 == "98 %") + hints(&agent).len()
        })
    });
    for run in runs.collect::<Vec<_>>() {
        assert_eq!(run.await.unwrap(), 1);
    }
    assert_eq!(most_seen.load(SeqCst), MOST);
    assert!(calls.running().is_empty());
}

#[tokio::test]
async fn a_flood_is_moved_cut_and_stopped() {
    // On the real clock: a tool that never waits keeps a paused one from running.
    let layer = BackgroundTools::builder()
        .after(Duration::from_millis(50))
        .deadline(Duration::from_millis(300))
        .max_output(10_000)
        .build()
        .unwrap();
    let calls = layer.calls();
    let floods = Does::new(|cx| async move {
        loop {
            cx.emit(ToolChunk::text("flood ")).await;
        }
    });
    let mut agent = builder(&trains()).tool(floods).middleware(layer).build().unwrap();
    agent.reply("Go").await.unwrap();
    calls.all_finished(Duration::from_secs(60)).await.unwrap();
    agent.reply("And?").await.unwrap();
    let hint = &hints(&agent)[0];
    assert!(hint.contains("took too long") && hint.contains("more bytes were left out]"));
    assert!(hint.len() < 10_500, "{}", hint.len());
}

#[tokio::test(start_paused = true)]
async fn results_that_nobody_fetches_are_given_up_oldest_first() {
    let warnings = Logged::warnings("cepa_resilience");
    let layer = Arc::new(background().max_results(2).build().unwrap());
    let mut agents = Vec::new();
    for number in 0..3 {
        let answer = ToolAnswer::new().delay(20 * SECOND).text(format!("result {number}"));
        let mut agent = agent(ScriptedTool::new("train", [answer]), layer.clone());
        agent.reply("Go").await.unwrap();
        agents.push(agent);
    }
    layer.calls().all_finished(60 * SECOND).await.unwrap();
    for (agent, told) in agents.iter_mut().zip(["is lost", "result 1", "result 2"]) {
        agent.reply("And?").await.unwrap();
        assert!(hints(agent)[0].contains(told), "{:?}", hints(agent));
    }
    assert!(warnings.lines()[0].contains("given up"));
}

#[test]
fn options_that_cannot_be_say_why() {
    let error = |builder: cepa_resilience::BackgroundToolsBuilder| builder.build().unwrap_err().to_string();
    assert_eq!(error(background().max_running(0)), "`max_running` is 0, but must be at least 1");
    assert_eq!(
        error(background().after(Duration::ZERO)),
        "`after` is 0ns, but must be longer than 0 s and at most a year"
    );
    assert_eq!(
        error(background().tool_after("train", 60 * SECOND)),
        "`deadline` is 60s, but must be longer than `after` and `tool_after`"
    );
}

#[tokio::test(start_paused = true)]
async fn the_time_of_the_reply_is_not_the_calls_and_the_tools_own_is() {
    for (own, told) in [(3600, "98 %"), (40, "longer than 40 seconds")] {
        let layer = background().deadline(3600 * SECOND).build().unwrap();
        let calls = layer.calls();
        let limits = Timeout::builder().reply(15 * SECOND).tool("train", own * SECOND).build().unwrap();
        let hangs = Answer::new().text("Hm").delay(100 * SECOND);
        let model = ScriptedModel::new([
            Answer::new().tool_call("train", json!({})),
            hangs,
            Answer::new().text("Done."),
        ]);
        let mut agent =
            builder(&model).tool(train(60 * SECOND)).middleware(layer).middleware(limits).build().unwrap();
        let begun = Instant::now();
        agent.reply("Go").await.unwrap();
        assert_eq!(begun.elapsed(), 15 * SECOND);
        calls.all_finished(3600 * SECOND).await.unwrap();
        assert_eq!(begun.elapsed(), own.min(60) * SECOND);
        agent.reply("And?").await.unwrap();
        assert!(hints(&agent)[0].contains(told), "{:?}", hints(&agent));
    }
}

#[test]
fn the_layers_of_this_crate_agree_on_their_order() {
    let layers = || -> Vec<Arc<dyn Middleware>> {
        vec![
            Arc::new(background().build().unwrap()),
            Arc::new(ToolErrorPolicy::new()),
            Arc::new(ToolRetry::default()),
            Arc::new(ModelFallback::builder().model(trains()).build().unwrap()),
            Arc::new(ModelRetry::default()),
            Arc::new(ModelCallLimit::builder().per_reply(9).build().unwrap()),
            Arc::new(ToolCallLimit::builder().per_reply(9).build().unwrap()),
            Arc::new(CircuitBreaker::builder().build().unwrap()),
            Arc::new(RateLimit::builder().requests_per_minute(9).build().unwrap()),
            Arc::new(ConcurrencyLimit::builder().model_calls(9).build().unwrap()),
            Arc::new(Timeout::builder().reply(SECOND).build().unwrap()),
        ]
    };
    let warnings = Logged::warnings("cepa_core");
    let build = |layers: Vec<Arc<dyn Middleware>>| {
        let built = layers.into_iter().fold(builder(&trains()), |agent, layer| agent.middleware(layer));
        built.build().unwrap();
        warnings.take()
    };
    assert_eq!(build(layers()), [""; 0]);
    let reversed = build(layers().into_iter().rev().collect());
    assert!(reversed.iter().any(|line| line.contains("`BackgroundTools`") && line.contains("`ToolRetry`")));
    assert!(reversed.len() > 10, "{reversed:#?}");
}
