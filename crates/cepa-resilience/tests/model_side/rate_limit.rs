use std::future::IntoFuture;

use cepa_core::{
    ErrorType, ModelError,
    testing::{Answer, ScriptedModel},
};
use cepa_resilience::{RateLimit, RateLimitBuilder, WaitTooLong};
use tokio::time::Instant;

use super::support::{Asked, Busy, SECOND, builder, many, most_in_a_minute, within};

#[tokio::test(start_paused = true)]
async fn a_thousand_agents_keep_the_limit_in_every_minute_and_go_in_order() {
    let limit = RateLimit::builder().requests_per_minute(100).max_wait(3600 * SECOND).build().unwrap();
    let asked = Asked::new();
    let notes = asked.clone();
    let order = Busy::new(SECOND);
    let agents = many(1_000, |number| {
        let (limit, notes, order) = (limit.clone(), notes.clone(), order.clone());
        async move {
            let inside = cepa_core::on_model_call(move |_cx, request, next| {
                notes.note();
                next.run(request)
            });
            let mut agent = builder(&order).middleware(limit).middleware(inside).build().unwrap();
            within(agent.reply(number.to_string())).await.unwrap();
        }
    });
    for agent in agents {
        agent.await.unwrap();
    }
    let at = asked.at();
    assert_eq!(at.len(), 1_000);
    assert_eq!(most_in_a_minute(&at), 100);
    // Nothing is wasted either: a hundred go each minute.
    assert_eq!(at.last().unwrap().as_secs(), 9 * 60);
    let numbers: Vec<usize> = order.said().iter().map(|said| said.parse().unwrap()).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_agents_on_many_threads_get_no_more_through() {
    let limit = RateLimit::builder().requests_per_minute(100).max_wait(SECOND).build().unwrap();
    let model = ScriptedModel::answering(|_| "Hello");
    let agents = many(1_000, |_| {
        let (limit, model) = (limit.clone(), model.clone());
        async move { builder(&model).middleware(limit).build().unwrap().reply("Hi").await.is_ok() }
    });
    let mut answered = 0;
    for agent in agents {
        answered += usize::from(agent.await.unwrap());
    }
    assert_eq!((answered, model.requests().len(), limit.used().0), (100, 100, 100));
}

#[tokio::test(start_paused = true)]
async fn tokens_are_estimated_before_and_counted_after() {
    let limit = || RateLimit::builder().tokens_per_minute(1_000).expected_output_tokens(600).build().unwrap();
    let asked = Asked::new();
    let run = |limit: RateLimit, tokens: u64| {
        let asked = asked.clone();
        let start = Instant::now();
        let model = ScriptedModel::answering(move |_| {
            asked.note();
            Answer::new().delay(SECOND).text("Done").usage(tokens, 0)
        });
        async move {
            // Two at once: together they are estimated at more than the limit.
            let replies = many(2, |_| {
                let mut agent = builder(&model).middleware(limit.clone()).build().unwrap();
                async move { within(agent.reply("Hi")).await.unwrap() }
            });
            for reply in replies {
                reply.await.unwrap();
            }
            (start.elapsed().as_secs(), limit.used().1)
        }
    };
    // The first one cost little: the second goes as soon as that is known.
    assert_eq!(run(limit(), 10).await, (2, 20));
    // The first one cost what was thought: the second waits for the next minute.
    assert_eq!(run(limit(), 600).await, (61, 600));
    // It cost more than there is: that is worked off before anything else goes.
    assert_eq!(run(limit(), 5_000).await, (61, 5_000));
}

#[tokio::test(start_paused = true)]
async fn a_request_over_the_whole_limit_goes_when_nothing_else_counts() {
    let limit = RateLimit::builder().tokens_per_minute(100).build().unwrap();
    let asked = Asked::new();
    let notes = asked.clone();
    let model = ScriptedModel::answering(move |_| {
        notes.note();
        "Done"
    });
    let mut agent = builder(&model).middleware(limit).build().unwrap();
    for _ in 0..3 {
        within(agent.reply("long ".repeat(1_000))).await.unwrap();
    }
    assert_eq!(asked.seconds(), [0, 60, 120]);
}

#[tokio::test(start_paused = true)]
async fn who_gives_up_waiting_gives_the_place_back() {
    let limit = RateLimit::builder().requests_per_minute(1).build().unwrap();
    let model = Busy::new(SECOND);
    let run = |said: &'static str| {
        let mut agent = builder(&model).middleware(limit.clone()).build().unwrap();
        tokio::spawn(async move { within(agent.reply(said)).await.map(|_| ()) })
    };
    let start = Instant::now();
    let first = run("first");
    tokio::task::yield_now().await;
    let gives_up = [run("second"), run("third")];
    let fourth = run("fourth");
    tokio::time::sleep(10 * SECOND).await;
    gives_up.iter().for_each(tokio::task::JoinHandle::abort);
    first.await.unwrap().unwrap();
    fourth.await.unwrap().unwrap();
    assert_eq!(model.said(), ["first", "fourth"]);
    assert_eq!(start.elapsed().as_secs(), 61);
    assert_eq!(limit.used().0, 1);
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_nobody_reads_keeps_nobody_else_waiting() {
    let limit = RateLimit::builder().requests_per_minute(1).build().unwrap();
    let asked = Asked::new();
    let run = |name: &str| {
        let notes = asked.clone();
        let model = ScriptedModel::answering(move |_| {
            notes.note();
            "Hello"
        });
        builder(&model.named(name)).middleware(limit.clone()).build().unwrap()
    };
    within(run("first").reply("Hi")).await.unwrap();
    // It waits for its turn, and then its reader does other things for a long time.
    let mut stalled = run("stalled");
    let mut stream = stalled.reply("Hi").stream();
    while tokio::time::timeout(SECOND, stream.next()).await.is_ok() {}
    within(run("second").reply("Hi")).await.unwrap();
    assert_eq!(asked.seconds(), [0, 120]);
    // Its turn was long ago: it takes another one, after those who were there.
    within(stream.finish()).await.unwrap();
    assert_eq!(asked.seconds(), [0, 120, 180]);
}

#[tokio::test(start_paused = true)]
async fn a_wait_has_an_end() {
    let limit = RateLimit::builder().requests_per_minute(1).max_wait(20 * SECOND).build().unwrap();
    let model = ScriptedModel::answering(|_| "Hello");
    let mut agent = builder(&model).middleware(limit).build().unwrap();
    within(agent.reply("Hi")).await.unwrap();
    let start = Instant::now();
    let error = within(agent.reply("Hi")).await.unwrap_err();
    assert_eq!(start.elapsed(), 20 * SECOND);
    let refused = error.downcast_ref::<WaitTooLong>().unwrap();
    assert_eq!((&*refused.what, refused.waited), ("scripted", 20 * SECOND));
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn all_wait_when_the_server_says_so() {
    let limit = RateLimit::builder().requests_per_minute(100).build().unwrap();
    let busy = ModelError::new(ErrorType::RateLimit, "slow down").with_retry_after(Some(30 * SECOND));
    let first = ScriptedModel::new([Answer::new().fails(busy)]);
    let mut refused = builder(&first).middleware(limit.clone()).build().unwrap();
    within(refused.reply("Hi")).await.unwrap_err();
    let start = Instant::now();
    let second = ScriptedModel::new(["Hello"]);
    let mut other = builder(&second).middleware(limit).build().unwrap();
    within(other.reply("Hi")).await.unwrap();
    assert_eq!(start.elapsed(), 30 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_burst_is_followed_by_an_even_pace() {
    let limit = RateLimit::builder().requests_per_minute(60).burst(2).build().unwrap();
    let asked = Asked::new();
    let notes = asked.clone();
    let model = ScriptedModel::answering(move |_| {
        notes.note();
        "Hello"
    });
    let mut agent = builder(&model).middleware(limit).build().unwrap();
    for _ in 0..5 {
        within(agent.reply("Hi").into_future()).await.unwrap();
    }
    assert_eq!(asked.seconds(), [0, 0, 1, 2, 3]);
}

#[test]
fn limits_that_cannot_be_say_why() {
    let error = |builder: RateLimitBuilder| builder.build().unwrap_err().to_string();
    let none = "`requests_per_minute` is not given, but must be given, or `tokens_per_minute` must";
    assert_eq!(error(RateLimit::builder()), none);
    let zero = RateLimit::builder().tokens_per_minute(0);
    assert_eq!(error(zero), "`tokens_per_minute` is 0, but must be at least 1");
    let burst = RateLimit::builder().requests_per_minute(5).burst(6);
    assert_eq!(error(burst), "`burst` is 6, but must be at most `requests_per_minute`");
}
