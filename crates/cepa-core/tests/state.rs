//! What the agent asks its state.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

use std::{collections::BTreeMap, sync::Arc};

use cepa_core::{
    AgentState, ContentBlock, MiddlewareKey, Msg, Store, StoreError, TextBlock, ToolCallBlock, ToolCallState,
    ToolResultBlock, ToolResultState,
};
use serde_json::json;

fn state() -> AgentState {
    serde_json::from_value(json!({ "session_id": "s", "reply_context": { "reply_id": "r" } })).unwrap()
}

fn call(id: &str, state: ToolCallState) -> ContentBlock {
    ToolCallBlock::new(id, "f", "{}").with_state(state).into()
}

fn result(id: &str) -> ContentBlock {
    ToolResultBlock::new(id, "f", "ok", ToolResultState::Success).into()
}

fn ids(calls: Vec<&ToolCallBlock>) -> Vec<String> {
    calls.into_iter().map(|call| call.id.to_string()).collect()
}

#[test]
fn blocks_go_into_the_message_of_the_reply() {
    let mut state = state();
    state.append_context("Friday", [TextBlock::new("a").into()]);
    let shared = Arc::clone(&state.context[0]);
    state.append_context("Friday", [TextBlock::new("b").into()]);
    assert_eq!(state.context.len(), 1);
    assert_eq!(state.context[0].text().as_deref(), Some("a\nb"));
    assert_eq!(*state.reply_id(), state.context[0].id);
    assert_eq!(shared.text().as_deref(), Some("a"), "a request that is under way does not change");

    state.append_context("Saturday", [TextBlock::new("c").into()]);
    state.context.push(Arc::new(Msg::user("u", "d")));
    state.append_context("Saturday", [TextBlock::new("e").into()]);
    let texts: Vec<_> = state.context.iter().map(|msg| msg.text().unwrap()).collect();
    assert_eq!(texts, ["a\nb", "c", "d", "e"]);
}

#[test]
fn awaiting_are_calls_that_somebody_outside_must_answer() {
    use ToolCallState::{Allowed, Asking, Finished, Pending, Submitted};
    let mut state = state();
    assert!(state.awaiting_tool_calls("Friday").is_empty());
    state.append_context(
        "Friday",
        [
            call("pending", Pending),
            call("asking", Asking),
            call("allowed", Allowed),
            call("submitted", Submitted),
            call("answered", Submitted),
            call("finished", Finished),
            result("answered"),
            result("asking"),
        ],
    );
    assert_eq!(ids(state.awaiting_tool_calls("Friday")), ["asking", "submitted"]);
    assert!(state.has_awaiting_tool_calls("Friday"));
    assert!(!state.has_awaiting_tool_calls("Saturday"));

    // of another reply: awaiting it is all the same, unfinished it is not
    state.reply_context.reply_id = "r2".into();
    assert_eq!(ids(state.awaiting_tool_calls("Friday")), ["asking", "submitted"]);
    assert!(state.unfinished_tool_calls("Friday").is_empty());

    state.context.push(Arc::new(Msg::user("u", "hello?")));
    assert!(!state.has_awaiting_tool_calls("Friday"));
}

#[test]
fn unfinished_are_calls_without_a_result() {
    let pending = |id| call(id, ToolCallState::Pending);
    for (blocks, expected) in [
        (vec![], vec![]),
        (vec![pending("a"), pending("b")], vec!["a", "b"]),
        (vec![pending("a"), result("a"), pending("b"), pending("c"), result("c")], vec!["b"]),
        (vec![pending("a"), pending("b"), result("b"), result("a"), pending("c")], vec!["c"]),
        (vec![result("a"), pending("a")], vec![]),
        (vec![pending("a"), pending("a"), result("a")], vec![]),
        (vec![pending("a"), result("orphan")], vec!["a"]),
    ] {
        let mut state = state();
        state.append_context("Friday", blocks.clone());
        assert_eq!(ids(state.unfinished_tool_calls("Friday")), expected, "{blocks:?}");
        assert!(state.unfinished_tool_calls("Saturday").is_empty());
    }
}

#[test]
fn an_idle_state_is_small() {
    // a fresh state has no heap of its own: no map, list or text of it allocates before something is in it
    assert!(size_of::<AgentState>() <= 512, "{}", size_of::<AgentState>());
}

#[test]
fn the_store_decodes_on_first_use_and_keeps_what_nobody_asked_for() {
    let json = r#"{"a":{"r1":15},"b":[1.0,null],"c":"x"}"#;
    let mut store: Store = serde_json::from_str(json).unwrap();
    let [a, b, n] = ["a", "b", "n"].map(MiddlewareKey::from);
    assert_eq!(store.get::<BTreeMap<String, u32>>(&a).unwrap().unwrap()["r1"], 15);
    assert_eq!(serde_json::to_string(&store).unwrap(), json);

    let spent = store.update(&a, |spent: &mut BTreeMap<String, u32>| {
        *spent.entry("r1".to_owned()).or_default() += 1;
        spent["r1"]
    });
    assert_eq!(spent.unwrap(), 16);
    assert_eq!(store.update(&n, |count: &mut u8| std::mem::replace(count, 7)).unwrap(), 0);
    assert_eq!(store.get::<u8>(&n).unwrap(), Some(7));
    assert_eq!(store.get::<u8>(&MiddlewareKey::from("none")).unwrap(), None);
    assert!(store.remove(&b) && !store.remove(&b) && !store.contains(&b));
    store.set(b, "new");
    assert_eq!(serde_json::to_string(&store).unwrap(), r#"{"a":{"r1":16},"b":"new","c":"x","n":7}"#);
    assert_eq!(format!("{store:?}"), r#"{"a", "b", "c", "n"}"#);
}

#[test]
fn a_value_that_does_not_fit_is_an_error_and_stays() {
    let mut store: Store = serde_json::from_str(r#"{"Budget":"many"}"#).unwrap();
    let key = MiddlewareKey::new("Budget");
    for error in
        [store.update(&key, |_: &mut u32| ()).unwrap_err(), store.get::<u32>(&key).map(drop).unwrap_err()]
    {
        assert!(matches!(error, StoreError::Decode { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("`Budget`") && text.contains("u32") && text.contains("\"many\""), "{text}");
    }
    assert_eq!(serde_json::to_string(&store).unwrap(), r#"{"Budget":"many"}"#);

    store.update(&key, |_: &mut String| ()).unwrap();
    for error in
        [store.update(&key, |_: &mut u32| ()).unwrap_err(), store.get::<u32>(&key).map(drop).unwrap_err()]
    {
        assert!(matches!(error, StoreError::Type { .. }), "{error:?}");
        assert!(error.to_string().contains("`Budget`"), "{error}");
    }
    assert_eq!(store.get::<String>(&key).unwrap().as_deref(), Some("many"));
}

#[test]
fn a_state_with_a_value_that_does_not_encode_cannot_be_saved() {
    let mut state = state();
    let value: BTreeMap<(u8, u8), u8> = [((1, 2), 3)].into();
    state.middle_context.set(MiddlewareKey::new("Bad"), value);
    let error = serde_json::to_string(&state).unwrap_err().to_string();
    assert!(error.contains("`Bad`") && error.contains("key must be a string"), "{error}");
}

#[test]
fn a_state_can_be_shared_and_sent() {
    fn check<T: Send + Sync + 'static>() {}
    check::<AgentState>();
    check::<cepa_core::AgentEvent>();
}
