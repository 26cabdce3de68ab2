//! What is searched for, shown and written, turn by turn.

use std::{sync::Arc, time::Duration};

use cepa_core::{
    Msg, ReactConfig, ReplyFinishedReason, on_reply,
    serde_json::json,
    testing::{Answer, Logged, ScriptedModel, ScriptedTool},
};
use cepa_memory::{
    Mode,
    mem0::{Mem0Middleware, MemoryScope},
};

use crate::{
    store::Store,
    support::{agent, hints, within},
};

fn memory(store: &Store) -> Mem0Middleware {
    Mem0Middleware::builder(store.clone()).user_id("alice").await_write(true).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn another_session_knows_what_the_first_was_told() {
    let store = Store::default();
    let model = ScriptedModel::new(["Nice."]);
    within(agent(&model, memory(&store)).build().unwrap().reply("My dog is Otto")).await.unwrap();
    assert!(hints(&model).is_empty());

    let model = ScriptedModel::new(["Otto."]);
    let mut second = agent(&model, memory(&store)).build().unwrap();
    within(second.reply("What is my dog called?")).await.unwrap();
    let hints = hints(&model);
    assert_eq!(hints.len(), 1, "{hints:?}");
    assert!(hints[0].contains("\n- My dog is Otto\n"), "{hints:?}");
    // It stands after the question, as something that is not the user's.
    let state = second.state().unwrap();
    let names: Vec<_> = state.context.iter().map(|msg| msg.name.to_string()).collect();
    assert_eq!(names, ["user", "memory", "Friday"]);
}

#[tokio::test(start_paused = true)]
async fn only_the_last_words_of_an_answer_are_written() {
    let store = Store::default();
    let model = ScriptedModel::new([
        Answer::new().text("Let me see.").tool_call("look", json!({})),
        Answer::new().texts(["It is", " blue."]),
    ]);
    let mut agent =
        agent(&model, memory(&store)).tool(ScriptedTool::echo("look").read_only()).build().unwrap();
    within(agent.reply("Which colour?")).await.unwrap();
    assert_eq!(store.turns(), [("alice".into(), "Which colour?".into(), "It is blue.".into())]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_without_an_answer_is_not_written() {
    let store = Store::default();
    // Rounds that are used up: what is returned is a notice, and no answer.
    let mut config = ReactConfig::default();
    config.max_iters = 1;
    let works = ScriptedModel::answering(|_| Answer::new().tool_call("look", json!({})));
    let look = ScriptedTool::echo("look").read_only();
    let mut busy = agent(&works, memory(&store)).react_config(config).tool(look).build().unwrap();
    let notice = within(busy.reply("Well?")).await.unwrap();
    assert_eq!(notice.finished_reason, Some(ReplyFinishedReason::ExceedMaxIters));
    assert!(notice.text().is_some_and(|text| !text.is_empty()));
    // A question without words: a picture, say.
    let shrugs = ScriptedModel::new(["Nice picture."]);
    within(agent(&shrugs, memory(&store)).build().unwrap().reply(Msg::user("user", " "))).await.unwrap();
    assert!(store.adds().is_empty(), "{:?}", store.adds());
    // A model that fails.
    let none = ScriptedModel::new([""; 0]);
    within(agent(&none, memory(&store)).build().unwrap().reply("Well?")).await.unwrap_err();
    assert!(store.adds().is_empty(), "{:?}", store.adds());
}

#[tokio::test(start_paused = true)]
async fn what_a_layer_inside_answers_is_written() {
    let store = Store::default();
    let cached = on_reply(|_cx, _input, _next| async { Ok(Msg::assistant("Friday", "From the cache.")) });
    let model = ScriptedModel::new([""; 0]);
    within(agent(&model, memory(&store)).middleware(cached).build().unwrap().reply("Hi")).await.unwrap();
    assert_eq!(store.turns(), [("alice".into(), "Hi".into(), "From the cache.".into())]);
}

#[tokio::test(start_paused = true)]
async fn an_agents_memories_are_its_own_unless_all_are_asked_for() {
    let store = Store::default();
    for agent_id in ["cook", "driver"] {
        let memory = Mem0Middleware::builder(store.clone()).user_id("alice").agent_id(agent_id);
        let memory = memory.await_write(true).build().unwrap();
        let said = format!("{agent_id} was told of tea");
        within(agent(&ScriptedModel::new(["Noted."]), memory).build().unwrap().reply(said)).await.unwrap();
    }
    for (only, expected) in [(true, 1), (false, 2)] {
        let memory = Mem0Middleware::builder(store.clone()).user_id("alice").agent_id("cook");
        let memory = memory.scope_search_by_agent(only).mode(Mode::StaticControl).build().unwrap();
        let model = ScriptedModel::new(["Yes."]);
        within(agent(&model, memory).build().unwrap().reply("tea")).await.unwrap();
        assert_eq!(hints(&model)[0].matches("was told of tea").count(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_does_not_say_whose_memories_it_has_has_none() {
    let warnings = Logged::warnings("cepa_memory");
    let store = Store::default();
    let memory =
        Mem0Middleware::builder(store.clone()).scope_from_context().await_write(true).build().unwrap();
    let model = ScriptedModel::answering(|_| Answer::new().text("Hello."));
    let mut agent = agent(&model, memory).build().unwrap();
    within(agent.reply("Hi")).await.unwrap();
    within(agent.reply("Hi").with(MemoryScope::user(" "))).await.unwrap();
    assert_eq!(warnings.lines().len(), 2, "{:?}", warnings.lines());
    assert!(warnings.lines()[0].contains("MemoryScope"), "{:?}", warnings.lines());
    assert!(store.searches().is_empty() && store.adds().is_empty());
    within(agent.reply("Hi").with(MemoryScope::user("bob").agent("cook"))).await.unwrap();
    assert_eq!(store.searches()[0].user_id, "bob");
    assert_eq!(store.adds()[0].agent_id.as_deref(), Some("cook"));
}

#[tokio::test(start_paused = true)]
async fn one_instance_serves_many_agents_at_once() {
    let slow = Duration::from_secs(1);
    let store = Store::default().search_takes(slow).add_takes(slow);
    let memory = Arc::new(Mem0Middleware::builder(store.clone()).scope_from_context().build().unwrap());
    let tasks: Vec<_> = (0..100)
        .map(|number| {
            let memory = memory.clone();
            tokio::spawn(async move {
                let model = ScriptedModel::new([format!("answer {number}")]);
                let mut agent = agent(&model, memory).build().unwrap();
                let user = MemoryScope::user(format!("user {number}"));
                within(agent.reply(format!("question {number}")).with(user)).await.unwrap();
            })
        })
        .collect();
    let start = tokio::time::Instant::now();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(start.elapsed(), slow);
    memory.flush(Duration::from_secs(200)).await.unwrap();
    let mut turns = store.turns();
    turns.sort();
    let mut expected: Vec<_> =
        (0..100).map(|n| (format!("user {n}"), format!("question {n}"), format!("answer {n}"))).collect();
    expected.sort();
    assert_eq!(turns, expected);
}

#[test]
fn settings_that_cannot_be_are_refused_with_the_reason() {
    let builder = || Mem0Middleware::builder(Store::default());
    let refusal = |builder: cepa_memory::mem0::Mem0Builder| builder.build().unwrap_err().to_string();
    assert!(refusal(builder()).contains("user_id"));
    assert!(refusal(builder().user_id(" ")).contains("blank"));
    assert!(refusal(builder().user_id("a").agent_id("")).contains("blank"));
    assert!(refusal(builder().user_id("a").top_k(0)).contains("top_k"));
    assert!(refusal(builder().user_id("a").threshold(f64::NAN)).contains("threshold"));
    assert!(refusal(builder().user_id("a").search_deadline(Duration::ZERO)).contains("deadline"));
    assert!(refusal(builder().user_id("a").tool_deadline(Duration::ZERO)).contains("deadline"));
    assert!(refusal(builder().user_id("a").writes_at_once(0)).contains("`writes_at_once`"));
    assert!(refusal(builder().user_id("a").max_tokens_found(0)).contains("`max_tokens_found`"));
}
