//! The whole stack in the order that is recommended, and in others.

use std::sync::Arc;

use cepa_core::{
    ErrorType, Middleware, ModelError,
    testing::{Answer, EventLog, Logged, ScriptedModel},
};
use cepa_resilience::{CircuitBreaker, ConcurrencyLimit, ModelFallback, ModelRetry, RateLimit, Timeout};

use super::support::{SECOND, builder, fails, within};

/// All layers, outermost first.
fn stack(other: ScriptedModel) -> Vec<Arc<dyn Middleware>> {
    vec![
        Arc::new(ModelFallback::builder().model(other).build().unwrap()),
        Arc::new(ModelRetry::default()),
        Arc::new(CircuitBreaker::builder().consecutive_failures(5).all_tools().build().unwrap()),
        Arc::new(
            RateLimit::builder().requests_per_minute(1_000).tokens_per_minute(1_000_000).build().unwrap(),
        ),
        Arc::new(ConcurrencyLimit::builder().model_calls(4).tool_calls(4).build().unwrap()),
        Arc::new(
            Timeout::builder()
                .reply(600 * SECOND)
                .first_item(5 * SECOND)
                .tool_calls(5 * SECOND)
                .build()
                .unwrap(),
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn together_they_get_an_answer_out_of_a_server_that_misbehaves() {
    let warnings = Logged::warnings("cepa_core");
    let busy = ModelError::new(ErrorType::RateLimit, "slow down").with_retry_after(Some(3 * SECOND));
    let first = ScriptedModel::new([
        Answer::new().hangs(),
        Answer::new().fails(busy),
        fails(ErrorType::Upstream),
        Answer::new().text("Hello from the first.").usage(10, 5),
    ])
    .named("first");
    let second = ScriptedModel::new(["Hello from the second."]).named("second");
    let mut build = builder(&first);
    for layer in stack(second.clone()) {
        build = build.middleware(layer);
    }
    let mut agent = build.build().unwrap();
    assert_eq!(warnings.take(), [""; 0], "no layer is the wrong way round");
    assert_eq!(within(EventLog::of(agent.reply("Hi"))).await.text(), "Hello from the second.");
    assert_eq!(within(EventLog::of(agent.reply("Hi"))).await.text(), "Hello from the first.");
    assert_eq!((first.requests().len(), second.requests().len()), (4, 1));
}

#[test]
fn the_other_way_round_the_builder_warns_of_every_pair() {
    let warnings = Logged::warnings("cepa_core");
    let model = ScriptedModel::new(["Hello"]);
    let mut build = builder(&model);
    for layer in stack(model.clone()).into_iter().rev() {
        build = build.middleware(layer);
    }
    build.build().unwrap();
    let lines = warnings.take();
    let pairs = [
        ("ModelFallback", "ModelRetry"),
        ("ModelRetry", "CircuitBreaker"),
        ("RateLimit", "CircuitBreaker"),
        ("RateLimit", "ConcurrencyLimit"),
        ("ConcurrencyLimit", "Timeout"),
    ];
    for (own, other) in pairs {
        let is_told = |line: &String| {
            line.contains(&format!("`{own}` (layer")) && line.contains(&format!("of `{other}` (layer"))
        };
        assert_eq!(lines.iter().filter(|line| is_told(line)).count(), 1, "{own}, {other}: {lines:#?}");
    }
}

#[tokio::test]
async fn one_agent_may_have_several_of_a_kind() {
    let limit = |name| {
        let limit = RateLimit::builder().requests_per_minute(10).models([name]);
        limit.build().unwrap()
    };
    let (large, small) = (limit("large"), limit("small"));
    let model = ScriptedModel::new(["Hello"]).named("small");
    let mut agent = builder(&model).middleware(large.clone()).middleware(small.clone()).build().unwrap();
    within(agent.reply("Hi")).await.unwrap();
    assert_eq!((large.used().0, small.used().0), (0, 1));
}
