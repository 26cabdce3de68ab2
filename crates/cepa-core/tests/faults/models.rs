//! Retries and the fallback.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use cepa_core::{
    Error, ErrorType, ModelError, Origin, on_model_call,
    testing::{Answer, ScriptedModel},
};

use crate::support::{builder, failure, log, said};

fn reset() -> ModelError {
    ModelError::new(ErrorType::Connection, "reset")
}

#[tokio::test(start_paused = true)]
async fn r07_a_stream_that_fails_before_its_first_item_is_tried_again_and_falls_back() {
    let primary = ScriptedModel::new([reset(), reset(), reset()]);
    let fallback = ScriptedModel::new(["From the other one."]).named("other");
    let mut agent = builder(&primary).model_retries(2).fallback_model(fallback).build().unwrap();
    let log = log(agent.reply("Go")).await;
    log.assert([
        "REPLY_START",
        "MODEL_CALL_START",
        "TEXT_BLOCK_START",
        r#"TEXT_BLOCK_DELTA "From the other one.""#,
        "TEXT_BLOCK_END",
        "MODEL_CALL_END completed",
        "REPLY_END completed",
    ]);
    assert_eq!(primary.requests().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn r07_a_stream_that_fails_after_its_first_item_is_not_shown_twice() {
    let primary = ScriptedModel::new([Answer::new().text("Once upon").fails(reset())]);
    let fallback = ScriptedModel::new(["From the other one."]);
    let mut agent = builder(&primary).model_retries(2).fallback_model(fallback.clone()).build().unwrap();
    let log = log(agent.reply("Go")).await;
    assert_eq!(log.text(), "Once upon");
    log.assert(["REPLY_START", "...", "TEXT_BLOCK_END", "REPLY_END error error.type=connection"]);
    assert_eq!((primary.requests().len(), fallback.requests().len()), (1, 0));
    // What was cut off is no part of the conversation.
    assert_eq!(said(&agent), ["Go"]);
}

#[tokio::test(start_paused = true)]
async fn f29_a_layer_that_refuses_is_not_a_model_that_failed() {
    let (primary, fallback) = (ScriptedModel::new(["unused"]), ScriptedModel::new(["unused"]));
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    let guard = on_model_call(move |_cx, _request, _next| {
        counter.fetch_add(1, SeqCst);
        async { Err(Error::other("not this one")) }
    });
    let mut agent = builder(&primary)
        .model_retries(2)
        .fallback_model(fallback.clone())
        .middleware(guard.key("Guard"))
        .build()
        .unwrap();
    let error = failure(log(agent.reply("Go")).await.into_outcome());
    assert_eq!(asked.load(SeqCst), 1);
    assert_eq!((primary.requests().len(), fallback.requests().len()), (0, 0));
    assert_eq!(error.origin(), Origin::Layer);
    assert_eq!(error.to_string(), "on_model_call of `Guard` (layer 1 of 1): not this one");
}

#[tokio::test(start_paused = true)]
async fn f39_the_model_that_answered_is_named() {
    let primary = ScriptedModel::new([reset(), reset()]).named("first");
    let fallback = ScriptedModel::new(["Here."]).named("second");
    let mut agent = builder(&primary).model_retries(1).fallback_model(fallback).build().unwrap();
    let log = log(agent.reply("Go")).await;
    log.only(["MODEL_CALL_START", "MODEL_CALL_END"])
        .assert(["MODEL_CALL_START first", "MODEL_CALL_END completed metadata.model_name=second"]);
}
