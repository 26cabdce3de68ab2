//! The tools, as a model uses them.

use std::time::Duration;

use cepa_core::{
    ToolResultState,
    serde_json::{Value, json},
    testing::{Answer, Logged, ScriptedModel},
};
use cepa_memory::{
    Mode,
    mem0::{Mem0Added, Mem0Middleware, texts},
};
use tokio::time::Instant;

use crate::{
    store::Store,
    support::{agent, within},
};

/// What the model gets for this call.
async fn call(store: &Store, tool: &str, input: Value) -> (ToolResultState, String) {
    let memory = Mem0Middleware::builder(store.clone()).user_id("alice").mode(Mode::AgentControl);
    let model = ScriptedModel::new([Answer::new().tool_call(tool, input), "Done.".into()]);
    let mut agent = agent(&model, memory.build().unwrap()).build().unwrap();
    let msg = within(agent.reply("Hi")).await.unwrap();
    assert_eq!(msg.text().as_deref(), Some("Done."));
    let state = agent.state().unwrap();
    let result = state.context.iter().find_map(|msg| msg.tool_results().next().cloned()).unwrap();
    let output = serde_json::to_value(&result.output).unwrap();
    let text = output.as_str().or_else(|| output[0]["text"].as_str()).unwrap().to_owned();
    (result.state, text)
}

#[tokio::test(start_paused = true)]
async fn keywords_are_searched_for_side_by_side_and_each_memory_is_told_once() {
    let store = Store::default().knows("alice", "tea with milk").knows("alice", "no\nsugar");
    let store = store.search_takes(Duration::from_secs(2));
    let start = Instant::now();
    let keywords = json!({"keywords": ["tea", "milk", "sugar", " ", "tea"], "limit": 7});
    let (state, text) = call(&store, "search_memory", keywords).await;
    assert_eq!((state, text.as_str()), (ToolResultState::Success, "- tea with milk\n- no\n  sugar"));
    assert_eq!(start.elapsed(), Duration::from_secs(2));
    let asked: Vec<_> = store.searches().into_iter().map(|search| (search.query, search.top_k)).collect();
    assert_eq!(asked, [("tea".into(), 7), ("milk".into(), 7), ("sugar".into(), 7)]);
}

#[tokio::test(start_paused = true)]
async fn a_search_without_a_find_or_a_keyword_says_so() {
    let store = Store::default();
    let nothing = call(&store, "search_memory", json!({"keywords": ["tea"]})).await;
    assert_eq!(nothing, (ToolResultState::Success, cepa_memory::texts::TOOL_MEMORY_EMPTY.into()));
    assert_eq!(store.searches()[0].top_k, 5);
    let none = call(&store, "search_memory", json!({"keywords": [" "]})).await;
    assert_eq!(none, (ToolResultState::Success, texts::TOOL_MEMORY_NO_KEYWORDS.into()));
    let many = call(&store, "search_memory", json!({"keywords": vec!["k"; 1000]})).await;
    assert_eq!(many.0, ToolResultState::Error);
    assert_eq!(store.searches().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_mem0_finds_not_worth_it_is_kept_as_it_is() {
    let store = Store::default().answers([Mem0Added::Nothing]);
    let input = json!({"thinking": "{useful}", "content": ["likes tea", "hates milk"]});
    let (state, text) = call(&store, "add_memory", input).await;
    assert_eq!(state, ToolResultState::Success);
    assert!(text.contains("{useful}"), "{text}");
    let adds = store.adds();
    assert_eq!(adds.iter().map(|add| add.infer).collect::<Vec<_>>(), [true, false]);
    assert_eq!(adds[1].messages[0].content, "likes tea\nhates milk");
    assert!(!format!("{adds:?}").contains("useful"));
}

#[tokio::test(start_paused = true)]
async fn work_that_is_pending_is_not_nothing() {
    let store = Store::default().answers([Mem0Added::Pending { event_id: Some("e1".into()) }]);
    let input = json!({"thinking": "useful", "content": ["likes tea"]});
    let (state, text) = call(&store, "add_memory", input).await;
    assert_eq!(
        (state, text),
        (ToolResultState::Success, texts::TOOL_MEMORY_PENDING.replace("{rationale}", "useful"))
    );
    assert_eq!(store.adds().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_told_to_the_model() {
    let warnings = Logged::warnings("cepa_memory");
    let store = Store::default().fails();
    let search = call(&store, "search_memory", json!({"keywords": ["tea"]})).await;
    assert_eq!(search.0, ToolResultState::Error);
    assert!(search.1.contains("the disk is full"), "{}", search.1);
    let add = call(&store, "add_memory", json!({"thinking": "", "content": ["likes tea"]})).await;
    assert_eq!(add.0, ToolResultState::Error);
    assert!(add.1.contains("the disk is full"), "{}", add.1);
    // And to whoever runs the agent.
    let lines = warnings.take();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("what=\"search\"") && lines[1].contains("what=\"write\""), "{lines:?}");
    let empty = call(&store, "add_memory", json!({"thinking": "", "content": [""]})).await;
    assert_eq!(empty, (ToolResultState::Error, texts::ERROR_MEMORY_ADD_EMPTY.into()));
}

#[tokio::test(start_paused = true)]
async fn what_some_keywords_find_is_told_where_another_fails() {
    let store = Store::default().knows("alice", "tea with milk").cannot_search("sugar");
    let (state, text) = call(&store, "search_memory", json!({"keywords": ["sugar", "tea"]})).await;
    assert_eq!(state, ToolResultState::Success);
    assert!(text.starts_with("- tea with milk\n") && text.contains("no such index"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_does_not_hold_up_what_is_to_be_remembered() {
    let store = Store::default().add_takes(Duration::from_secs(50));
    let memory = Mem0Middleware::builder(store.clone()).user_id("alice").mode(Mode::AgentControl);
    let memory = std::sync::Arc::new(memory.tool_deadline(Duration::from_secs(2)).build().unwrap());
    let input = json!({"thinking": "useful", "content": ["likes tea"]});
    let model = ScriptedModel::new([Answer::new().tool_call("add_memory", input), "Done.".into()]);
    let mut agent = agent(&model, memory.clone()).build().unwrap();
    let start = Instant::now();
    within(agent.reply("Hi")).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 2);
    let told = format!("{:?}", model.requests().last().unwrap().messages);
    assert!(told.contains("It was taken in"), "{told}");
    assert!(store.adds().is_empty());
    memory.flush(Duration::from_secs(60)).await.unwrap();
    assert_eq!(store.adds()[0].messages[0].content, "likes tea");
}
