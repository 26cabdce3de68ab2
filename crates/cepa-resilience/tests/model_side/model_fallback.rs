use std::sync::Arc;

use cepa_core::{
    ChatModel, ErrorKind, ErrorType, ModelError,
    testing::{Answer, ScriptedModel},
};
use cepa_resilience::{CircuitBreaker, ModelFallback, ModelRetry, RateLimit};

use super::support::{SECOND, builder, fails, log, within};

fn down(name: &'static str) -> ScriptedModel {
    ScriptedModel::answering(|_| fails(ErrorType::Upstream)).named(name)
}

fn well(name: &'static str) -> ScriptedModel {
    ScriptedModel::answering(|_| "Hello").named(name)
}

#[tokio::test(start_paused = true)]
async fn the_next_model_that_works_answers_and_is_named() {
    let (first, second, third) = (down("first"), down("second"), well("third"));
    let fallback = ModelFallback::builder().model(second.clone()).model(third.clone()).build().unwrap();
    let mut agent = builder(&first).middleware(fallback).build().unwrap();
    for round in 1..=2 {
        let log = log(agent.reply("Hi")).await;
        assert_eq!(log.text(), "Hello");
        let ends = log.only(["MODEL_CALL_START", "MODEL_CALL_END"]);
        ends.assert(["MODEL_CALL_START first", "MODEL_CALL_END metadata.model_name=third"]);
        // The agent's own model stays what it is: it is asked first, each time.
        for model in [&first, &second, &third] {
            assert_eq!(model.requests().len(), round);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn half_an_answer_is_not_begun_anew_by_another_model() {
    let cut = Answer::new().text("Once upon").fails(ModelError::new(ErrorType::Connection, "reset"));
    let (first, second) = (ScriptedModel::new([cut]), well("second"));
    let fallback = ModelFallback::builder().model(second.clone()).build().unwrap();
    let mut agent = builder(&first).middleware(fallback).build().unwrap();
    let log = log(agent.reply("Tell")).await;
    assert_eq!(log.text(), "Once upon");
    let error = log.into_outcome().unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Model(error) if error.kind == ErrorType::Connection),
        "{error}"
    );
    assert_eq!(second.requests().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn when_all_fail_the_last_error_is_the_replys() {
    let first = down("first");
    let second = ScriptedModel::answering(|_| fails(ErrorType::Authentication)).named("second");
    let fallback = ModelFallback::builder().model(second).build().unwrap();
    let mut agent = builder(&first).middleware(fallback).build().unwrap();
    let error = within(agent.reply("Hi")).await.unwrap_err();
    assert_eq!(error.info().kind, ErrorType::Authentication);
}

#[tokio::test(start_paused = true)]
async fn a_model_of_the_chain_that_was_asked_already_is_left_out() {
    let first: Arc<dyn ChatModel> = Arc::new(down("first"));
    let chain = || ModelFallback::builder().model(first.clone()).model(well("second")).build().unwrap();
    let mut agent = builder(&well("unused")).model(first.clone()).middleware(chain()).build().unwrap();
    let log = log(agent.reply("Hi")).await;
    log.only(["MODEL_CALL_END"]).assert(["MODEL_CALL_END metadata.model_name=second"]);
}

#[tokio::test(start_paused = true)]
async fn only_the_wanted_errors_count() {
    let (first, second) = (down("first"), well("second"));
    let only_busy = ModelFallback::builder()
        .model(second.clone())
        .when(|error| matches!(error.kind(), ErrorKind::Model(error) if error.kind == ErrorType::RateLimit))
        .build()
        .unwrap();
    let mut agent = builder(&first).middleware(only_busy).build().unwrap();
    within(agent.reply("Hi")).await.unwrap_err();
    assert_eq!(second.requests().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn each_model_is_asked_again_before_the_next_one() {
    let (first, second) = (down("first"), well("second"));
    let fallback = ModelFallback::builder().model(second.clone()).build().unwrap();
    let mut agent = builder(&first).middleware(fallback).middleware(ModelRetry::default()).build().unwrap();
    assert_eq!(log(agent.reply("Hi")).await.text(), "Hello");
    assert_eq!((first.requests().len(), second.requests().len()), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn a_refused_call_is_a_reason_to_ask_another_model() {
    // By an open circuit: the model that is down is not even asked.
    let (first, second) = (down("first"), well("second"));
    let fallback = || ModelFallback::builder().model(second.clone()).build().unwrap();
    let breaker = CircuitBreaker::builder().consecutive_failures(2).build().unwrap();
    let mut agent = builder(&first).middleware(fallback()).middleware(breaker).build().unwrap();
    for _ in 0..5 {
        assert_eq!(log(agent.reply("Hi")).await.text(), "Hello");
    }
    assert_eq!((first.requests().len(), second.requests().len()), (2, 5));

    // By a limit that has no room for too long.
    let (first, second) = (well("first"), well("second"));
    let fallback = ModelFallback::builder().model(second.clone()).build().unwrap();
    let limit =
        RateLimit::builder().requests_per_minute(1).models(["first"]).max_wait(SECOND).build().unwrap();
    let mut agent = builder(&first).middleware(fallback).middleware(limit).build().unwrap();
    for _ in 0..2 {
        assert_eq!(log(agent.reply("Hi")).await.text(), "Hello");
    }
    assert_eq!((first.requests().len(), second.requests().len()), (1, 1));
}

#[test]
fn a_chain_needs_a_model() {
    let error = ModelFallback::builder().build().unwrap_err().to_string();
    assert_eq!(error, "`model` is not given, but must be given at least once");
}
