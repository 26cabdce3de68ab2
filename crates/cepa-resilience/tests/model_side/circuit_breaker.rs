use std::{
    future::IntoFuture,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use cepa_core::{
    CancelToken, Error, ErrorType, ModelRequest, Msg, Purpose, ToolResultState, on_model_call,
    serde_json::json,
    testing::{Answer, Logged, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_resilience::{CircuitBreaker, CircuitBreakerBuilder, CircuitOpen, CircuitState, Timeout};

use super::support::{Busy, SECOND, builder, fails, many, within};

/// A model that is down until it is mended.
fn mendable() -> (ScriptedModel, Arc<AtomicBool>) {
    let well = Arc::new(AtomicBool::new(false));
    let is_well = well.clone();
    let model = ScriptedModel::answering(move |_| {
        if is_well.load(SeqCst) { "Hello".into() } else { fails(ErrorType::Upstream) }
    });
    (model, well)
}

fn after(failures: u32) -> CircuitBreakerBuilder {
    CircuitBreaker::builder().consecutive_failures(failures).open_for(30 * SECOND)
}

#[tokio::test(start_paused = true)]
async fn a_model_that_keeps_failing_is_left_alone_and_tried_again() {
    let logged = Logged::of("cepa_resilience");
    let (model, well) = mendable();
    let breaker = after(3).build().unwrap();
    let mut agent = builder(&model).middleware(breaker.clone()).build().unwrap();
    for _ in 0..3 {
        within(agent.reply("Hi")).await.unwrap_err();
    }
    tokio::time::sleep(10 * SECOND).await;
    let error = within(agent.reply("Hi")).await.unwrap_err();
    let open = error.downcast_ref::<CircuitOpen>().unwrap();
    assert_eq!((&*open.model, open.retry_in), ("scripted", Some(20 * SECOND)));
    assert!(error.to_string().ends_with("it is not called for another 20s"), "{error}");
    assert_eq!(breaker.of_model("scripted"), CircuitState::Open(20 * SECOND));
    assert_eq!(model.requests().len(), 3);

    // Still down: the probe fails, and it is left alone for as long again.
    tokio::time::sleep(20 * SECOND).await;
    assert_eq!(breaker.of_model("scripted"), CircuitState::HalfOpen);
    assert!(within(agent.reply("Hi")).await.unwrap_err().downcast_ref::<CircuitOpen>().is_none());
    assert!(within(agent.reply("Hi")).await.unwrap_err().downcast_ref::<CircuitOpen>().is_some());
    assert_eq!(model.requests().len(), 4);

    // Well again.
    well.store(true, SeqCst);
    tokio::time::sleep(30 * SECOND).await;
    within(agent.reply("Hi")).await.unwrap();
    assert_eq!(breaker.of_model("scripted"), CircuitState::Closed);
    let lines = logged.lines();
    assert_eq!(lines.iter().filter(|line| line.contains("circuit opened")).count(), 2);
    assert_eq!(lines.iter().filter(|line| line.contains("circuit closed")).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_agents_send_no_more_probes_than_allowed() {
    let breaker = after(1).probes(3).successes(3).build().unwrap();
    // Opens, on its own name.
    let down = ScriptedModel::new([fails(ErrorType::Upstream)]).named("busy");
    within(builder(&down).middleware(breaker.clone()).build().unwrap().reply("Hi")).await.unwrap_err();
    tokio::time::sleep(30 * SECOND).await;

    let model = Busy::new(SECOND);
    let run = |count| {
        many(count, |_| {
            let mut agent = builder(&model).middleware(breaker.clone()).build().unwrap();
            async move { within(agent.reply("Hi")).await }
        })
    };
    let (mut answered, mut refused) = (0, 0);
    for agent in run(1_000) {
        match agent.await.unwrap() {
            Ok(_) => answered += 1,
            Err(error) => {
                assert_eq!(error.downcast_ref::<CircuitOpen>().unwrap().retry_in, None);
                refused += 1;
            }
        }
    }
    assert_eq!((answered, refused, model.most()), (3, 997, 3));
    for agent in run(100) {
        agent.await.unwrap().unwrap();
    }
    assert_eq!(breaker.of_model("busy"), CircuitState::Closed);
}

#[tokio::test(start_paused = true)]
async fn what_says_nothing_of_the_models_health_does_not_count() {
    // Requests that are wrong, and layers that refuse.
    let breaker = after(1).build().unwrap();
    let model = ScriptedModel::answering(|_| fails(ErrorType::InvalidRequest));
    within(builder(&model).middleware(breaker.clone()).build().unwrap().reply("Hi")).await.unwrap_err();
    let refuses = on_model_call(|_cx, _request, next| {
        drop(next);
        async { Err(Error::other("a guard has had enough")) }
    });
    let mut agent = builder(&model).middleware(breaker.clone()).middleware(refuses).build().unwrap();
    within(agent.reply("Hi")).await.unwrap_err();
    assert_eq!(breaker.of_model("scripted"), CircuitState::Closed);
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_or_dropped_probe_gives_its_place_to_another() {
    let breaker = after(1).build().unwrap();
    let model = ScriptedModel::new([
        fails(ErrorType::Upstream),
        Answer::new().text("Hm").hangs(),
        Answer::new().text("Hm").hangs(),
        "Hello".into(),
    ]);
    let mut agent = builder(&model).middleware(breaker.clone()).build().unwrap();
    within(agent.reply("Hi")).await.unwrap_err();
    tokio::time::sleep(30 * SECOND).await;

    let token = CancelToken::new();
    let later = token.clone();
    tokio::spawn(async move {
        tokio::time::sleep(SECOND).await;
        later.cancel();
    });
    within(agent.reply("Hi").cancel_on(token)).await.unwrap();
    assert_eq!(breaker.of_model("scripted"), CircuitState::HalfOpen);

    tokio::time::timeout(SECOND, agent.reply("Hi").into_future()).await.unwrap_err();
    within(agent.reply("Hi")).await.unwrap();
    assert_eq!(breaker.of_model("scripted"), CircuitState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_time_limit_that_is_reached_is_a_failure() {
    let breaker = after(2).build().unwrap();
    let model = ScriptedModel::answering(|_| Answer::new().hangs());
    let limit = Timeout::builder().first_item(5 * SECOND).build().unwrap();
    let mut agent = builder(&model).middleware(breaker.clone()).middleware(limit).build().unwrap();
    for _ in 0..2 {
        within(agent.reply("Hi")).await.unwrap_err();
    }
    assert_eq!(breaker.of_model("scripted"), CircuitState::Open(30 * SECOND));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_keeps_failing_is_off_and_the_model_is_told() {
    let breaker = CircuitBreaker::builder()
        .without_models()
        .all_tools()
        .consecutive_failures(2)
        .open_for(30 * SECOND)
        .build()
        .unwrap();
    let look = ScriptedTool::new(
        "look",
        [ToolAnswer::new().fails("no network"), ToolAnswer::new().fails("no network"), "a cat".into()],
    );
    let call = || Answer::new().tool_call("look", json!({}));
    let model = ScriptedModel::new([
        call(),
        call(),
        call(),
        Answer::new().delay(30 * SECOND).tool_call("look", json!({})),
        "A cat.".into(),
    ]);
    let mut agent = builder(&model).tool(look.clone()).middleware(breaker.clone()).build().unwrap();
    let message = within(agent.reply("Look")).await.unwrap();
    let state = agent.state().unwrap();
    let results: Vec<_> = state.context.iter().flat_map(|msg| msg.tool_results()).collect();
    let states: Vec<_> = results.iter().map(|result| result.state).collect();
    let (failed, success) = (ToolResultState::Error, ToolResultState::Success);
    assert_eq!(states, [failed, failed, failed, success]);
    assert_eq!(
        results[2].output.text(),
        "The tool `look` did not run: it has failed too often, and is called again in 30 seconds at the earliest. \
         Go on without it, or tell the user."
    );
    assert_eq!(look.calls().len(), 3);
    assert_eq!(breaker.of_tool("look"), CircuitState::Closed);
    assert_eq!(message.text().as_deref(), Some("A cat."));
}

#[tokio::test(start_paused = true)]
async fn a_probe_may_ask_the_same_model_inside() {
    let breaker = after(1).build().unwrap();
    let (model, well) = mendable();
    // A layer inside asks the same model before each step.
    let asks = on_model_call(|cx: cepa_core::Cx<_>, request, next| async move {
        let question = ModelRequest::new([Msg::user("user", "A or B?")]);
        cx.call_model(Purpose::Routing, question).await?;
        next.run(request).await
    });
    let mut agent = builder(&model).middleware(breaker.clone()).middleware(asks).build().unwrap();
    within(agent.reply("Hi")).await.unwrap_err();
    tokio::time::sleep(30 * SECOND).await;
    well.store(true, SeqCst);
    within(agent.reply("Hi")).await.unwrap();
    assert_eq!(breaker.of_model("scripted"), CircuitState::Closed);
}

#[test]
fn options_that_cannot_be_say_which() {
    let error = |builder: CircuitBreakerBuilder| builder.build().unwrap_err().to_string();
    assert_eq!(error(after(0)), "`consecutive_failures` is 0, but must be at least 1");
    let ratio = CircuitBreaker::builder().failure_ratio(1.5, 10, SECOND);
    assert_eq!(error(ratio), "`failure_ratio` is 1.5, but must be above 0 and at most 1");
    let nothing = CircuitBreaker::builder().without_models();
    assert_eq!(error(nothing), "`tools` is not given, but must be given where there are no models");
    assert!(CircuitBreaker::builder().probes(0).build().is_err());
}
