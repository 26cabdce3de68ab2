use std::time::Duration;

use cepa_core::{
    CancelToken, Cx, Error, ErrorKind, ErrorType, ModelError, ModelRequest, Msg, Next, Purpose,
    ReplyFinishedReason, on_model_call, on_reply,
    testing::{Answer, EventLog, Logged, ScriptedModel},
};
use cepa_resilience::{Backoff, ModelRetry, ModelRetryBuilder};

use super::support::{Asked, SECOND, builder, fails, log, within};

/// A second, two, four, without chance.
fn steady() -> ModelRetryBuilder {
    ModelRetry::builder().backoff(Backoff::new(SECOND, 60 * SECOND).jitter(false))
}

/// A model that notes when it is asked.
fn noting(asked: &Asked, answer: impl Fn(usize) -> Answer + Send + Sync + 'static) -> ScriptedModel {
    let asked = asked.clone();
    ScriptedModel::answering(move |_| {
        asked.note();
        answer(asked.at().len())
    })
}

#[tokio::test(start_paused = true)]
async fn a_busy_model_is_asked_again_after_longer_and_longer_waits() {
    let logged = Logged::warnings("cepa_resilience");
    let asked = Asked::new();
    let model = noting(&asked, |time| if time < 4 { fails(ErrorType::Upstream) } else { "Hello".into() });
    let mut agent = builder(&model).middleware(steady().attempts(4).build().unwrap()).build().unwrap();
    let log = log(agent.reply("Hi")).await;
    assert_eq!(log.text(), "Hello");
    assert_eq!(asked.seconds(), [0, 1, 3, 7]);
    assert_eq!(logged.lines().len(), 3);
    // Its reader sees one call.
    log.only(["MODEL_CALL_START", "MODEL_CALL_END"]).assert(["MODEL_CALL_START", "MODEL_CALL_END"]);
}

#[tokio::test(start_paused = true)]
async fn what_the_server_asks_for_is_the_least_wait() {
    let asked = Asked::new();
    let model = noting(&asked, |time| {
        let wait = if time < 3 { Some(20 * SECOND) } else { None };
        let error = ModelError::new(ErrorType::RateLimit, "slow down").with_retry_after(wait);
        if time < 4 { Answer::new().fails(error) } else { "Hello".into() }
    });
    let mut agent = builder(&model).middleware(steady().attempts(9).build().unwrap()).build().unwrap();
    within(agent.reply("Hi")).await.unwrap();
    assert_eq!(asked.seconds(), [0, 20, 40, 44]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_breaks_off_is_not_begun_anew() {
    let cut = Answer::new().text("Once upon").fails(ModelError::new(ErrorType::Connection, "reset"));
    let model = ScriptedModel::new([cut, "Once upon a time".into()]);
    let mut agent = builder(&model).middleware(ModelRetry::default()).build().unwrap();
    let log = log(agent.reply("Tell")).await;
    assert_eq!(log.text(), "Once upon");
    log.assert(["...", "TEXT_BLOCK_END", "REPLY_END error"]);
    let error = log.into_outcome().unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Model(error) if error.kind == ErrorType::Connection),
        "{error}"
    );
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_answers_at_its_end_is_asked_again_when_it_breaks_off() {
    // Nothing of the first answer went out, as it does not stream.
    let cut = Answer::new().text("Once upon").fails(ModelError::new(ErrorType::Connection, "reset"));
    let model = ScriptedModel::new([cut, "Once upon a time".into()]).without_streaming();
    let mut agent = builder(&model).middleware(ModelRetry::default()).build().unwrap();
    assert_eq!(log(agent.reply("Tell")).await.text(), "Once upon a time");
}

#[tokio::test(start_paused = true)]
async fn after_the_last_attempt_the_error_is_the_models_own() {
    let model = ScriptedModel::answering(|_| fails(ErrorType::RateLimit));
    let mut agent = builder(&model).middleware(ModelRetry::default()).build().unwrap();
    let error = within(agent.reply("Hi")).await.unwrap_err();
    assert_eq!(error.info().kind, ErrorType::RateLimit);
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn what_asking_again_cannot_mend_is_not_asked_again() {
    let model = ScriptedModel::answering(|_| fails(ErrorType::Authentication));
    let mut agent = builder(&model).middleware(ModelRetry::default()).build().unwrap();
    within(agent.reply("Hi")).await.unwrap_err();
    assert_eq!(model.requests().len(), 1);

    // A layer inside that refuses is no model that fails.
    let model = ScriptedModel::new(["Hello"]);
    let refuses = on_model_call(|_cx, _request, next| {
        drop(next);
        async { Err(Error::other("a guard has had enough")) }
    });
    let mut agent = builder(&model).middleware(ModelRetry::default()).middleware(refuses).build().unwrap();
    let error = within(agent.reply("Hi")).await.unwrap_err();
    assert!(error.to_string().contains("a guard has had enough"), "{error}");

    // Unless the layer is told otherwise.
    let model = ScriptedModel::new([fails(ErrorType::Authentication), "Hello".into()]);
    let all = ModelRetry::builder().when(|_| true).build().unwrap();
    let mut agent = builder(&model).middleware(all).build().unwrap();
    within(agent.reply("Hi")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_wait_beyond_the_deadline_is_not_begun() {
    let asked = Asked::new();
    let model = noting(&asked, |time| {
        let error = ModelError::new(ErrorType::RateLimit, "slow down");
        let wait = if time == 1 { 3600 * SECOND } else { Duration::MAX };
        Answer::new().fails(error.with_retry_after(Some(wait)))
    });
    let mut agent =
        builder(&model).middleware(steady().deadline(60 * SECOND).build().unwrap()).build().unwrap();
    let start = tokio::time::Instant::now();
    within(agent.reply("Hi")).await.unwrap_err();
    within(agent.reply("Hi")).await.unwrap_err();
    assert_eq!((asked.seconds(), start.elapsed().as_secs()), (vec![0, 0], 0));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_hangs_ends_at_the_deadline_and_one_that_answers_does_not() {
    let model = ScriptedModel::new([fails(ErrorType::Upstream), Answer::new().hangs()]);
    let retry = || steady().deadline(60 * SECOND).build().unwrap();
    let mut agent = builder(&model).middleware(retry()).build().unwrap();
    let start = tokio::time::Instant::now();
    let error = within(agent.reply("Hi")).await.unwrap_err();
    assert_eq!(start.elapsed(), 60 * SECOND);
    assert_eq!(error.info().kind, ErrorType::Upstream, "the last error says more than the time");

    let model = ScriptedModel::new([Answer::new().hangs()]);
    let mut agent = builder(&model).middleware(retry()).build().unwrap();
    let error = within(agent.reply("Hi")).await.unwrap_err();
    assert!(error.to_string().contains("`scripted` has not answered within 60s"), "{error}");

    let model = ScriptedModel::new([Answer::new().text("Slow").delay(600 * SECOND).text(" and steady")]);
    let mut agent = builder(&model).middleware(retry()).build().unwrap();
    assert_eq!(log(agent.reply("Hi")).await.text(), "Slow and steady");
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_ends_the_wait_at_once() {
    let model = ScriptedModel::answering(|_| fails(ErrorType::Upstream));
    let slow = ModelRetry::builder().backoff(Backoff::new(100 * SECOND, 100 * SECOND)).build().unwrap();
    let mut agent = builder(&model).middleware(slow).build().unwrap();
    let token = CancelToken::new();
    let later = token.clone();
    tokio::spawn(async move {
        tokio::time::sleep(10 * SECOND).await;
        later.cancel();
    });
    let start = tokio::time::Instant::now();
    let message = within(agent.reply("Hi").cancel_on(token)).await.unwrap();
    assert_eq!(message.finished_reason, Some(ReplyFinishedReason::Interrupted));
    assert!(start.elapsed() < 12 * SECOND, "{:?}", start.elapsed());
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_failed_attempts_cost_is_paid_for() {
    let upstream = || ModelError::new(ErrorType::Upstream, "no");
    let model = ScriptedModel::new([
        Answer::new().reports_usage(10, 0).fails(upstream()),
        Answer::new().reports_usage(20, 0).fails(upstream()),
        Answer::new().text("Done").usage(30, 5),
    ]);
    let mut agent = builder(&model).middleware(ModelRetry::default()).build().unwrap();
    let usage = within(agent.reply("Hi")).await.unwrap().usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (60, 5));

    let model = ScriptedModel::answering(move |_| {
        Answer::new().reports_usage(10, 1).fails(ModelError::new(ErrorType::Upstream, "no"))
    });
    let mut agent = builder(&model).middleware(ModelRetry::default()).build().unwrap();
    let error = within(agent.reply("Hi")).await.unwrap_err();
    let usage = error.usage().unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (30, 3));
}

#[tokio::test(start_paused = true)]
async fn calls_that_layers_make_for_themselves_are_tried_again_too() {
    let model = ScriptedModel::new([fails(ErrorType::Upstream), "B".into(), "Hello".into()]);
    let asks = on_reply(|cx: Cx<_>, input, next: Next<_>| async move {
        let question = ModelRequest::new([Msg::user("user", "A or B?")]);
        let answer = cx.call_model(Purpose::Routing, question).await?;
        assert_eq!(answer.text(), "B");
        next.run(input).await
    });
    let mut agent = builder(&model).middleware(asks).middleware(ModelRetry::default()).build().unwrap();
    assert_eq!(within(EventLog::of(agent.reply("Hi"))).await.text(), "Hello");
}

#[test]
fn options_that_cannot_be_say_which() {
    let error = |builder: ModelRetryBuilder| builder.build().unwrap_err().to_string();
    assert_eq!(error(ModelRetry::builder().attempts(0)), "`attempts` is 0, but must be at least 1");
    assert_eq!(
        error(ModelRetry::builder().deadline(Duration::ZERO)),
        "`deadline` is 0ns, but must be longer than 0 s and at most a year"
    );
    assert!(ModelRetry::builder().backoff(Backoff::default().factor(f32::NAN)).build().is_err());
}
