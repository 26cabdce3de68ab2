//! Sessions that are paused, saved and loaded while something runs in the background.

use std::sync::Arc;

use cepa_core::{
    ConfirmResult, UserConfirmResultEvent,
    serde_json::{json, to_value},
    testing::{Answer, ScriptedModel, ScriptedTool},
};

use super::agents::*;

#[tokio::test(start_paused = true)]
async fn another_process_tells_that_the_call_is_lost_once() {
    let mut before = agent(train(30 * SECOND), background().build().unwrap());
    before.reply("Go").await.unwrap();
    let state = saved(&before);
    let layer = background().build().unwrap();
    let mut after = builder(&trains()).tool(train(SECOND)).middleware(layer).state(state).build().unwrap();
    after.reply("And?").await.unwrap();
    after.reply("And?").await.unwrap();
    let [hint] = hints(&after).try_into().unwrap();
    assert!(hint.contains("`train` in the background is lost"), "{hint}");
    assert_eq!(to_value(&*after.state().unwrap()).unwrap()["middle_context"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_loaded_again_in_this_process_gets_its_result() {
    let layer = Arc::new(background().build().unwrap());
    let state = {
        let mut before = agent(train(30 * SECOND), layer.clone());
        before.reply("Go").await.unwrap();
        saved(&before)
    };
    layer.calls().all_finished(60 * SECOND).await.unwrap();
    let mut after = builder(&trains()).tool(train(SECOND)).middleware(layer).state(state).build().unwrap();
    after.reply("And?").await.unwrap();
    assert!(hints(&after)[0].contains("98 %"));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_loaded_as_it_was_before_the_call_gets_its_result_once() {
    let layer = Arc::new(background().build().unwrap());
    let calls = layer.calls();
    let state = {
        let mut before = agent(train(30 * SECOND), layer.clone());
        let state = saved(&before);
        before.reply("Go").await.unwrap();
        state
    };
    calls.all_finished(60 * SECOND).await.unwrap();
    let mut after = builder(&trains()).tool(train(SECOND)).middleware(layer).state(state).build().unwrap();
    assert!(calls.next_result(&session(&after), SECOND).await);
    after.reply("And?").await.unwrap();
    assert!(hints(&after)[0].contains("98 %"));
    assert!(!calls.next_result(&session(&after), SECOND).await);
}

#[tokio::test(start_paused = true)]
async fn sessions_do_not_get_each_others_results() {
    let layer = Arc::new(background().build().unwrap());
    let calls = layer.calls();
    let mut first = agent(train(20 * SECOND), layer.clone());
    let mut second = agent(train(40 * SECOND), layer.clone());
    first.reply("Go").await.unwrap();
    second.reply("Go").await.unwrap();
    calls.finished(&session(&first), 60 * SECOND).await.unwrap();
    assert_eq!(calls.running().len(), 1);
    second.reply("And?").await.unwrap();
    assert!(hints(&second).is_empty());
    first.reply("And?").await.unwrap();
    assert_eq!(hints(&first).len(), 1);
    calls.forget(&session(&second));
    calls.all_finished(SECOND).await.unwrap();
    second.reply("And?").await.unwrap();
    assert!(hints(&second)[0].contains("is lost"));
}

#[tokio::test(start_paused = true)]
async fn a_paused_reply_is_told_when_it_goes_on() {
    let model = ScriptedModel::new([
        Answer::new().tool_call("train", json!({})).tool_call("ask", json!({})),
        Answer::new().text("Both done."),
    ]);
    let layer = background().build().unwrap();
    let calls = layer.calls();
    let mut agent = builder(&model)
        .tool(train(30 * SECOND))
        .tool(ScriptedTool::echo("ask").asks())
        .middleware(layer)
        .build()
        .unwrap();
    agent.reply("Go").await.unwrap();
    let waiting = agent.waiting_for().unwrap();
    calls.all_finished(60 * SECOND).await.unwrap();
    let yes = waiting.confirmations.into_iter().map(ConfirmResult::confirm);
    agent.reply(UserConfirmResultEvent::new(waiting.reply_id, yes)).await.unwrap();
    assert_eq!(hints(&agent).len(), 1);
    assert!(hints(&agent)[0].contains("98 %"));
}

#[test]
fn a_call_ends_with_its_runtime_and_another_one_is_told() {
    let runtime =
        || tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let layer = Arc::new(background().build().unwrap());
    let calls = layer.calls();
    let mut agent = agent(train(30 * SECOND), layer);
    let first = runtime();
    first.block_on(async { agent.reply("Go").await }).unwrap();
    assert_eq!(calls.running().len(), 1);
    drop(first);
    runtime().block_on(async {
        calls.all_finished(SECOND).await.unwrap();
        agent.reply("And?").await.unwrap();
    });
    assert!(hints(&agent)[0].contains("has no result"), "{:?}", hints(&agent));
}
