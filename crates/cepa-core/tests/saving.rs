//! Saving a session and loading it again.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

use std::sync::Arc;

use cepa_core::{
    Agent, AgentDefinition, AgentState, ErrorKind, MiddlewareKey, Msg, StoreError, TextBlock, serde_json,
};
use proptest::prelude::*;
use serde::{Deserialize, Serialize, Serializer, ser::Error};

#[path = "support/scripted.rs"]
#[allow(dead_code, reason = "not every test needs all of it")]
mod scripted;
use scripted::Scripted;

fn definition() -> AgentDefinition {
    Agent::builder("Friday").model(Scripted::new([])).define().unwrap()
}

#[tokio::test]
async fn a_saved_session_goes_on() {
    let definition = definition();
    let mut agent = definition.agent();
    agent.reply("one").await.unwrap();
    let first = agent.save().unwrap().to_owned();
    agent.reply("two").await.unwrap();
    assert_eq!(agent.save().unwrap().matches("\"done\"").count(), 2);

    let mut other = definition.load(&first).unwrap();
    assert_eq!(other.save().unwrap(), first);
    other.reply("three").await.unwrap();
    let state = other.state().unwrap();
    let said: Vec<_> = state.context.iter().filter(|msg| msg.name.as_ref() == "user").collect();
    assert_eq!(said.iter().map(|msg| msg.text().unwrap()).collect::<Vec<_>>(), ["one", "three"]);
}

#[test]
fn what_cannot_be_read_says_where() {
    let error = definition().load(r#"{"context": [{"name": "a", "role": "user"}]}"#).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::SavedSession(_)));
    let text = error.to_string();
    assert!(text.contains("context") && text.contains("content"), "{text}");
}

#[test]
fn a_state_that_does_not_encode_is_named_and_does_no_harm() {
    #[derive(Clone, Default, Deserialize)]
    struct Broken;

    impl Serialize for Broken {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(S::Error::custom("out of order"))
        }
    }

    let mut agent = definition().agent();
    let key = MiddlewareKey::from("Fragile");
    agent.state().unwrap().middle_context.set(key.clone(), Broken);
    let error = agent.save().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Store(StoreError::Encode { .. })));
    let text = error.to_string();
    assert!(text.contains("`Fragile`") && text.contains("out of order"), "{text}");

    agent.state().unwrap().middle_context.remove(&key);
    let saved = agent.save().unwrap().to_owned();
    assert_eq!(saved, serde_json::to_string(&*agent.state().unwrap()).unwrap());
}

#[test]
fn saving_keeps_no_message_alive_and_makes_no_change_a_copy() {
    let mut agent = definition().agent();
    let msg = Arc::new(Msg::user("user", "x".repeat(100)));
    let watch = Arc::downgrade(&msg);
    agent.state().unwrap().context.push(msg);
    agent.save().unwrap();

    let mut state = agent.state().unwrap();
    let text = state.context[0].content.as_ptr();
    Arc::make_mut(&mut state.context[0]).name = "alice".into();
    assert_eq!(state.context[0].content.as_ptr(), text, "the content was copied");
    state.context.clear();
    assert_eq!(watch.strong_count(), 0);
}

/// What may happen between two saves.
#[derive(Clone, Debug)]
enum Change {
    Push(String),
    Extend(usize, String),
    Replace(usize, String),
    Remove(usize),
    Insert(usize, String),
    Swap(usize, usize),
    Summarise(String),
    Count,
    Forget,
}

fn change() -> impl Strategy<Value = Change> {
    let place = 0..6_usize;
    prop_oneof![
        4 => ".{0,8}".prop_map(Change::Push),
        2 => (place.clone(), ".{0,8}").prop_map(|(at, text)| Change::Extend(at, text)),
        1 => (place.clone(), ".{0,8}").prop_map(|(at, text)| Change::Replace(at, text)),
        1 => place.clone().prop_map(Change::Remove),
        1 => (place.clone(), ".{0,8}").prop_map(|(at, text)| Change::Insert(at, text)),
        1 => (place.clone(), place).prop_map(|(one, other)| Change::Swap(one, other)),
        1 => "[}\"a]{0,3}".prop_map(Change::Summarise),
        1 => Just(Change::Count),
        1 => Just(Change::Forget),
    ]
}

fn apply(change: &Change, state: &mut AgentState) {
    let length = state.context.len();
    match change {
        Change::Push(text) => state.context.push(Arc::new(Msg::user("user", text.as_str()))),
        Change::Insert(at, text) => {
            state.context.insert((*at).min(length), Arc::new(Msg::user("user", text.as_str())));
        }
        Change::Summarise(text) => state.summary = text.as_str().into(),
        Change::Count => {
            state.middle_context.update(&"Counter".into(), |count: &mut u32| *count += 1).unwrap();
        }
        _ if length == 0 => {}
        Change::Extend(at, text) => {
            let msg = Arc::make_mut(&mut state.context[at % length]);
            msg.content.push(TextBlock::new(text.as_str()).into());
        }
        Change::Replace(at, text) => {
            state.context[at % length] = Arc::new(Msg::user("user", text.as_str()));
        }
        Change::Remove(at) => _ = state.context.remove(at % length),
        Change::Swap(one, other) => state.context.swap(one % length, other % length),
        Change::Forget => {}
    }
}

proptest! {
    #[test]
    fn what_is_saved_is_always_the_state_as_it_is(
        steps in prop::collection::vec(prop::collection::vec(change(), 0..4), 1..12)
    ) {
        let mut agent = definition().agent();
        for changes in steps {
            for change in &changes {
                if matches!(change, Change::Forget) {
                    agent.forget_saved();
                }
                apply(change, &mut agent.state().unwrap());
            }
            let expected = serde_json::to_string(&*agent.state().unwrap()).unwrap();
            prop_assert_eq!(agent.save().unwrap(), expected);
        }
    }
}
