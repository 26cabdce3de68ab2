use std::{
    future::IntoFuture,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use cepa_core::{
    CancelToken, Cx, ModelRequest, Msg, Next, Purpose, ToolResultState, on_acting, on_model_call,
    serde_json::json,
    testing::{Answer, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_resilience::{ConcurrencyLimit, ConcurrencyLimitBuilder, WaitTooLong};

use super::support::{Busy, SECOND, builder, many, within};

#[tokio::test(start_paused = true)]
async fn a_thousand_agents_keep_the_limit_and_go_in_order() {
    let limit = ConcurrencyLimit::builder().model_calls(7).build().unwrap();
    let model = Busy::new(SECOND);
    let agents = many(1_000, |number| {
        let mut agent = builder(&model).middleware(limit.clone()).build().unwrap();
        async move { within(agent.reply(number.to_string())).await.unwrap() }
    });
    for agent in agents {
        agent.await.unwrap();
    }
    assert_eq!((model.most(), limit.free_model_calls()), (7, Some(7)));
    let numbers: Vec<usize> = model.said().iter().map(|said| said.parse().unwrap()).collect();
    assert_eq!(numbers.len(), 1_000);
    assert!(numbers.is_sorted(), "{numbers:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_agents_on_many_threads_keep_the_limit() {
    let limit = ConcurrencyLimit::builder().model_calls(50).build().unwrap();
    let model = Busy::new(Duration::from_millis(5));
    let agents = many(1_000, |number| {
        let mut agent = builder(&model).middleware(limit.clone()).build().unwrap();
        async move {
            // Some of them give up, waiting or running.
            let patience = if number % 10 == 0 { 10 } else { 60_000 };
            let _ = tokio::time::timeout(Duration::from_millis(patience), async { agent.reply("Hi").await })
                .await;
        }
    });
    for agent in agents {
        agent.await.unwrap();
    }
    assert!(model.most() <= 50, "{}", model.most());
    assert_eq!(limit.free_model_calls(), Some(50));
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_gives_the_place_back_waiting_and_running() {
    let limit = ConcurrencyLimit::builder().model_calls(1).build().unwrap();
    let model = ScriptedModel::answering(|_| Answer::new().hangs());
    let token = CancelToken::new();
    let agents = many(2, |_| {
        let (limit, model, token) = (limit.clone(), model.clone(), token.clone());
        let mut agent = builder(&model).middleware(limit).build().unwrap();
        async move { within(agent.reply("Hi").cancel_on(token)).await.unwrap() }
    });
    tokio::time::sleep(SECOND).await;
    assert_eq!((model.requests().len(), limit.free_model_calls()), (1, Some(0)));
    token.cancel();
    for agent in agents {
        agent.await.unwrap();
    }
    assert_eq!((model.requests().len(), limit.free_model_calls()), (1, Some(1)));
}

#[tokio::test(start_paused = true)]
async fn a_call_inside_of_one_that_has_a_place_does_not_wait_for_itself() {
    let limit = ConcurrencyLimit::builder().model_calls(1).build().unwrap();
    let model = ScriptedModel::answering(|_| "Hello");
    let asks = on_model_call(|cx: Cx<_>, request, next: Next<_>| async move {
        let question = ModelRequest::new([Msg::user("user", "A or B?")]);
        cx.call_model(Purpose::Routing, question).await?;
        next.run(request).await
    });
    let mut agent = builder(&model).middleware(limit.clone()).middleware(asks).build().unwrap();
    let start = tokio::time::Instant::now();
    within(agent.reply("Hi")).await.unwrap();
    assert_eq!((start.elapsed(), model.requests().len()), (Duration::ZERO, 2));
    assert_eq!(limit.free_model_calls(), Some(1));
}

#[tokio::test(start_paused = true)]
async fn calls_beside_each_other_in_one_task_each_need_a_place() {
    let limit = ConcurrencyLimit::builder().model_calls(1).build().unwrap();
    let model = Busy::new(SECOND);
    let mut agents: Vec<_> =
        (0..3).map(|_| builder(&model).middleware(limit.clone()).build().unwrap()).collect();
    let [one, two, three] = &mut agents[..] else { panic!("three") };
    let start = tokio::time::Instant::now();
    let _ = tokio::join!(
        one.reply("1").into_future(),
        two.reply("2").into_future(),
        three.reply("3").into_future()
    );
    assert_eq!((model.most(), start.elapsed()), (1, 3 * SECOND));
}

#[tokio::test(start_paused = true)]
async fn tools_have_limits_of_their_own() {
    let limit = ConcurrencyLimit::builder().tool_calls(3).tool("browser", 1).build().unwrap();
    let calls = (0..6).fold(Answer::new(), |answer, number| {
        answer.tool_call(if number % 2 == 0 { "browser" } else { "look" }, json!({"number": number}))
    });
    let model = ScriptedModel::new([calls, "Done".into()]);
    let running: Arc<[AtomicUsize; 4]> = Arc::default();
    let counts = running.clone();
    // Inside of the limit: how many run at once, of one tool and of all.
    let counting = on_acting(move |_cx, input: cepa_core::ActingInput, next: Next<_>| {
        let counts = counts.clone();
        let of_tool = *input.tool_call.name == *"browser";
        async move {
            let ours =
                [(of_tool, 0), (true, 2)].into_iter().filter(|(counted, _)| *counted).map(|(_, at)| at);
            for at in ours.clone() {
                let now = counts[at].fetch_add(1, SeqCst) + 1;
                counts[at + 1].fetch_max(now, SeqCst);
            }
            let result = next.run(input).await;
            ours.for_each(|at| _ = counts[at].fetch_sub(1, SeqCst));
            result
        }
    });
    let tool = |name| ScriptedTool::answering(name, |_| ToolAnswer::new().delay(SECOND).text("seen"));
    let mut agent = builder(&model)
        .tool(tool("browser"))
        .tool(tool("look"))
        .middleware(limit.clone())
        .middleware(counting)
        .build()
        .unwrap();
    within(agent.reply("Look")).await.unwrap();
    assert_eq!((running[1].load(SeqCst), running[3].load(SeqCst)), (1, 3));
    assert_eq!(limit.free_tool_calls(), Some(3));
}

#[tokio::test(start_paused = true)]
async fn a_wait_has_an_end() {
    let limit =
        ConcurrencyLimit::builder().model_calls(1).tool("look", 1).max_wait(10 * SECOND).build().unwrap();
    // The model's place is taken.
    let hangs = ScriptedModel::answering(|_| Answer::new().hangs());
    let mut first = builder(&hangs).middleware(limit.clone()).build().unwrap();
    let running = tokio::spawn(async move { first.reply("Hi").await.map(|_| ()) });
    tokio::task::yield_now().await;
    let model = ScriptedModel::new([
        Answer::new().tool_call("look", json!({"for": 1})).tool_call("look", json!({"for": 2})),
        "Done".into(),
    ]);
    let look = ScriptedTool::answering("look", |_| ToolAnswer::new().delay(30 * SECOND).text("a cat"));
    let mut agent = builder(&model).tool(look).middleware(limit).build().unwrap();
    let error = within(agent.reply("Hi")).await.unwrap_err();
    assert_eq!(&*error.downcast_ref::<WaitTooLong>().unwrap().what, "scripted");
    running.abort();
    let _ = running.await;

    // The tool's place is taken: the model is told.
    let message = within(agent.reply("Look")).await.unwrap();
    assert_eq!(message.text().as_deref(), Some("Done"));
    let state = agent.state().unwrap();
    let results: Vec<_> = state.context.iter().flat_map(|msg| msg.tool_results()).collect();
    let of = |state| results.iter().find(|result| result.state == state).unwrap().output.text();
    assert_eq!(of(ToolResultState::Success), "a cat");
    let refused = of(ToolResultState::Error);
    assert!(refused.starts_with("The tool `look` did not run: too many calls"), "{refused}");
}

#[test]
fn limits_that_cannot_be_say_why() {
    let error = |builder: ConcurrencyLimitBuilder| builder.build().unwrap_err().to_string();
    let none = "`model_calls` is not given, but must be given, or `tool_calls` or `tool` must";
    assert_eq!(error(ConcurrencyLimit::builder()), none);
    let zero = ConcurrencyLimit::builder().tool("look", 0);
    assert_eq!(error(zero), "`tool` is 0, but must be at least 1 and no more than can be counted");
}
