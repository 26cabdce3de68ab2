//! Retries and the fallback.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use cepa_core::{
    Cx, Error, ErrorType, ModelError, ModelRequest, Msg, Next, Origin, Purpose, Usage, on_model_call,
    on_reply,
    serde_json::json,
    testing::{Answer, ScriptedModel, ScriptedTool},
};

use crate::support::{builder, failure, log, said, yes};

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
async fn f03_what_a_layer_spends_before_the_reply_begins_is_paid_by_that_reply() {
    let routes = on_reply(|cx: Cx<_>, input, next: Next<_>| async move {
        let question = ModelRequest::new([Msg::user("user", "Which model?")]);
        cx.call_model(Purpose::Routing, question).await?;
        next.run(input).await
    });
    let answer = |request: &ModelRequest| match request.purpose {
        Purpose::Routing => Answer::new().text("The small one.").usage(100, 1),
        _ => Answer::new().text("Done.").usage(10, 5),
    };
    let mut agent = builder(&ScriptedModel::answering(answer)).middleware(routes).build().unwrap();
    for _ in 0..2 {
        let message = log(agent.reply("Go")).await.into_outcome().unwrap();
        assert_eq!(message.usage, Some(Usage::new(110, 6)));
    }
    let state = agent.state().unwrap();
    let usages: Vec<_> = state.context.iter().filter_map(|message| message.usage.clone()).collect();
    assert_eq!(usages, [Usage::new(110, 6), Usage::new(110, 6)]);
}

#[tokio::test(start_paused = true)]
async fn the_id_of_a_reply_is_known_before_it_begins() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let ids = seen.clone();
    let notes = on_reply(move |cx: Cx<_>, input, next: Next<_>| {
        let ids = ids.clone();
        async move {
            ids.lock().unwrap().push(cx.reply_id()?);
            let message: Msg = next.run(input).await?;
            assert_eq!(cx.reply_id()?, message.id);
            Ok(message)
        }
    });
    let model = ScriptedModel::new([
        Answer::new().tool_call("look", json!({})),
        Answer::new().text("Done."),
        Answer::new().text("Again."),
    ]);
    let look = ScriptedTool::echo("look").asks();
    let mut agent = builder(&model).tool(look).middleware(notes).build().unwrap();
    let asked = log(agent.reply("Go")).await.into_outcome().unwrap();
    let answer = yes(&agent);
    let done = log(agent.reply(answer)).await.into_outcome().unwrap();
    let again = log(agent.reply("Go on")).await.into_outcome().unwrap();
    assert_eq!(*seen.lock().unwrap(), [&asked.id, &done.id, &again.id].map(Clone::clone));
    assert_eq!(asked.id, done.id);
    assert_ne!(done.id, again.id);
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

#[tokio::test(start_paused = true)]
async fn layers_that_each_ask_a_model_do_not_ask_each_other_for_ever() {
    let asks = |question: &'static str| {
        on_model_call(move |cx: Cx<_>, request, next: Next<_>| async move {
            cx.call_model(Purpose::Routing, ModelRequest::new([Msg::user("user", question)])).await?;
            next.run(request).await
        })
    };
    let model = ScriptedModel::answering(|_| Answer::new().text("Done."));
    let mut agent = builder(&model).middleware(asks("First?")).middleware(asks("Second?")).build().unwrap();
    assert_eq!(log(agent.reply("Go")).await.text(), "Done.");
    // Each question passes the other layer, which asks its own of the model alone.
    let asked: Vec<_> =
        model.requests().iter().map(|request| request.messages.last().unwrap().text().unwrap()).collect();
    assert_eq!(asked, ["Second?", "First?", "First?", "Second?", "Go"]);
}
