//! `REPLY_END`: a layer that drops it has another round; one that holds or rebuilds it has not.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use cepa_core::{
    CancelToken, ErrorKind, Flow, Middleware, ReactConfig, ReplyFinishedReason, on_reply,
    testing::{Answer, EventLog, ScriptedModel},
};

use super::{builder, is_end, within};

/// Drops the first so many ends, each in another manner.
fn swallowers(times: usize) -> [Arc<dyn Middleware>; 3] {
    let budget = || Arc::new(AtomicUsize::new(times));
    let drops = |left: &AtomicUsize| left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok();
    let (a, b, c) = (budget(), budget(), budget());
    let by_tap = on_reply(move |_cx, input, next| {
        let left = a.clone();
        async move {
            let look = |event: &mut _| if is_end(event) && drops(&left) { Flow::Drop } else { Flow::Keep };
            next.tap(input, look).await
        }
    });
    let by_shared_tap = on_reply(move |_cx, input, next| {
        let left = b.clone();
        next.tap_shared(
            input,
            move |event| {
                if is_end(event) && drops(&left) { Flow::Drop } else { Flow::Keep }
            },
        )
    });
    let by_stream = on_reply(move |cx, input, next| {
        let left = c.clone();
        async move {
            let mut items = next.stream(input);
            while let Some(event) = items.next().await {
                if !(is_end(&event) && drops(&left)) {
                    cx.emit(event).await;
                }
            }
            items.finish().await
        }
    });
    [Arc::new(by_tap), Arc::new(by_shared_tap), Arc::new(by_stream)]
}

/// Stands around the layer that is tested.
fn streams() -> Arc<dyn Middleware> {
    Arc::new(on_reply(|cx, input, next| async move { next.stream(input).forward(&cx).await }))
}

#[tokio::test]
async fn a_dropped_end_makes_another_round() {
    for layer in swallowers(1) {
        let model = ScriptedModel::new(["First.", "Second."]);
        let mut agent =
            builder(&model).middleware(streams()).middleware(layer).middleware(streams()).build().unwrap();
        let log = within(EventLog::of(agent.reply("Go"))).await;
        log.only(["REPLY_START", "TEXT_BLOCK_DELTA", "REPLY_END"]).assert([
            "REPLY_START Friday",
            "TEXT_BLOCK_DELTA First.",
            "TEXT_BLOCK_DELTA Second.",
            "REPLY_END completed",
        ]);
        assert_eq!(log.into_outcome().unwrap().text().as_deref(), Some("Second."));
        assert_eq!(model.remaining(), 0);
    }
}

#[tokio::test]
async fn also_when_nobody_listens() {
    for layer in swallowers(1) {
        let model = ScriptedModel::new(["First.", "Second."]);
        let mut agent = builder(&model).middleware(layer).build().unwrap();
        let message = within(agent.reply("Go")).await.unwrap();
        assert_eq!(message.text().as_deref(), Some("Second."));
    }
}

/// The loop runs in another thread than the layer that drops the end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn also_across_tasks() {
    let spawns: Arc<dyn Middleware> =
        Arc::new(on_reply(|_cx, input, next| async move { tokio::spawn(next.run(input)).await.unwrap() }));
    for _ in 0..200 {
        for layer in swallowers(1) {
            let model = ScriptedModel::new(["First.", "Second."]);
            let mut agent = builder(&model).middleware(layer).middleware(spawns.clone()).build().unwrap();
            let log = within(EventLog::of(agent.reply("Go"))).await;
            log.only(["TEXT_BLOCK_DELTA", "REPLY_END"]).assert([
                "TEXT_BLOCK_DELTA First.",
                "TEXT_BLOCK_DELTA Second.",
                "REPLY_END completed",
            ]);
        }
    }
}

#[tokio::test]
async fn an_end_that_is_dropped_again_and_again_is_an_error() {
    for layer in swallowers(usize::MAX) {
        // One round, then the forced last one; after that no round is left that could make a difference.
        let model = ScriptedModel::new(["First.", "Last."]);
        let mut react = ReactConfig::default();
        react.max_iters = 1;
        let mut agent = builder(&model).react_config(react).middleware(layer).build().unwrap();
        let log = within(EventLog::of(agent.reply("Go"))).await;
        log.only(["EXCEED_MAX_ITERS", "REPLY_END"]).assert([
            "EXCEED_MAX_ITERS Friday",
            "EXCEED_MAX_ITERS Friday",
            "REPLY_END error error.type=internal",
        ]);
        let error = log.into_outcome().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::ReplyEndSwallowedTwice), "{error}");
    }
}

#[tokio::test]
async fn an_end_that_is_held_back_is_delivered() {
    let holds_all = on_reply(|cx, input, next| async move {
        let (mut items, mut held) = (next.stream(input), Vec::new());
        while let Some(event) = items.next().await {
            held.push(event);
        }
        for event in held {
            cx.emit(event).await;
        }
        items.finish().await
    });
    let model = ScriptedModel::new(["Only."]);
    let mut agent = builder(&model).middleware(holds_all).build().unwrap();
    let log = within(EventLog::of(agent.reply("Go"))).await;
    log.assert(["REPLY_START", "...", "TEXT_BLOCK_DELTA Only.", "...", "REPLY_END completed"]);
    log.into_outcome().unwrap();
}

#[tokio::test]
async fn an_end_that_is_rebuilt_is_delivered() {
    let rebuilds = on_reply(|cx, input, next| async move {
        let mut items = next.stream(input);
        while let Some(event) = items.next().await {
            let mut copy = (*event).clone();
            copy.metadata.insert("stamp", "ok");
            drop(event);
            cx.emit(copy).await;
        }
        items.finish().await
    });
    let model = ScriptedModel::new(["Only."]);
    let mut agent = builder(&model).middleware(rebuilds).build().unwrap();
    let log = within(EventLog::of(agent.reply("Go"))).await;
    log.only(["REPLY_END"]).assert(["REPLY_END completed metadata.stamp=ok"]);
    assert_eq!(model.requests().len(), 1);
}

/// Only an end that the loop could go on after can be swallowed.
#[tokio::test]
async fn an_interrupted_end_cannot_be_dropped() {
    for layer in swallowers(usize::MAX) {
        let model = ScriptedModel::new([Answer::new().text("Half").hangs()]);
        let mut agent = builder(&model).middleware(layer).build().unwrap();
        let token = CancelToken::new();
        let mut stream = agent.reply("Go").cancel_on(token.clone()).stream();
        while let Some(event) = within(stream.next()).await {
            if event.event_type() == "TEXT_BLOCK_DELTA" {
                token.cancel();
            }
        }
        let message = within(stream.finish()).await.unwrap();
        assert_eq!(message.finished_reason, Some(ReplyFinishedReason::Interrupted));
        assert_eq!(model.requests().len(), 1);
    }
}
