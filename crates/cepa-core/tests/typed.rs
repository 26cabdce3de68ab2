//! Replies that give a value of a Rust type.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

use std::sync::{Arc, Mutex};

use cepa_core::{
    Agent, CancelToken, ChatChunk, ConfirmResult, Cx, ErrorKind, EventKind, GENERATE_STRUCTURED_OUTPUT,
    ModelCall, ModelRequest, Next, ReactConfig, ReplyFinishedReason, UserConfirmResultEvent, on_model_call,
    schemars::JsonSchema,
    serde_json::{Value, json},
    tool,
};
use serde::Deserialize;

#[path = "support/scripted.rs"]
mod scripted;
use scripted::{Scripted, calls};

/// A journey.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Journey {
    city: String,
    #[serde(default = "one")]
    days: u32,
    stay: Option<Stay>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Stay {
    /// The hotel.
    hotel: String,
}

fn one() -> u32 {
    1
}

/// Pays.
#[tool]
fn pay() -> &'static str {
    "paid"
}

fn agent(rounds: Vec<Vec<ChatChunk>>) -> Agent {
    Agent::builder("Friday").model(Scripted::new(rounds)).build().unwrap()
}

fn outputs<const N: usize>(outputs: [Value; N]) -> Vec<Vec<ChatChunk>> {
    calls(outputs.map(|output| (GENERATE_STRUCTURED_OUTPUT, output.to_string())))
}

#[tokio::test]
async fn gives_the_value_and_the_message_that_carries_it() {
    let mut agent = agent(outputs([json!({"city": "Rome", "stay": {"hotel": "Sole"}})]));
    let (journey, msg) = agent.reply_as::<Journey>("Where to?").with_message().await.unwrap();
    let stay = Some(Stay { hotel: "Sole".to_owned() });
    assert_eq!(journey, Journey { city: "Rome".to_owned(), days: 1, stay });
    assert_eq!(msg.finished_reason, Some(ReplyFinishedReason::Completed));
    assert_eq!(msg.structured_output.unwrap()["days"], 1);
}

#[tokio::test]
async fn the_model_gets_the_schema_without_references() {
    let seen = Arc::new(Mutex::new(Value::Null));
    let seeing = seen.clone();
    let see = on_model_call(move |_: Cx<ModelCall>, request: ModelRequest, next: Next<ModelCall>| {
        let tool = request.tools.iter().find(|tool| **tool.name() == *GENERATE_STRUCTURED_OUTPUT);
        *seeing.lock().unwrap() = tool.unwrap().parameters().clone();
        async move { next.run(request).await }
    });
    let model = Scripted::new(outputs([json!({"city": "Rome"})]));
    let mut agent = Agent::builder("Friday").model(model).middleware(see).build().unwrap();
    agent.reply_as::<Journey>("Where to?").await.unwrap();
    let schema = seen.lock().unwrap().clone();
    assert_eq!(schema["required"], json!(["city"]));
    assert_eq!(schema["description"], "A journey.");
    assert!(schema.to_string().contains("The hotel."), "{schema}");
    assert!(!schema.to_string().contains("$ref"), "{schema}");
}

#[tokio::test]
async fn what_does_not_fit_goes_back_to_the_model() {
    let mut agent = agent(outputs([json!({"city": "Rome", "days": -1}), json!({"city": "Rome", "days": 2})]));
    let journey = agent.reply_as::<Journey>("Where to?").await.unwrap();
    assert_eq!(journey.days, 2);
    let state = agent.state().unwrap();
    let results: Vec<_> = state.context[1].tool_results().map(|result| result.output.text()).collect();
    assert!(results[0].contains("days"), "{results:?}");
    assert_eq!(results.len(), 2);
}

#[tokio::test]
async fn a_parked_reply_has_no_value_yet_and_gives_it_when_it_goes_on() {
    let mut rounds = calls([("pay", "{}".to_owned())]);
    rounds.push(vec![ChatChunk::tool_call("o", GENERATE_STRUCTURED_OUTPUT, r#"{"city": "Rome"}"#)]);
    let mut agent = Agent::builder("Friday").model(Scripted::new(rounds)).tool(pay).build().unwrap();

    let error = agent.reply_as::<Journey>("Book it.").await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NoStructuredOutput { finished_reason: None }), "{error}");
    assert!(error.to_string().contains("waiting_for"), "{error}");

    let waiting = agent.waiting_for().unwrap();
    let yes = ConfirmResult::confirm(waiting.confirmations[0].clone());
    let msg = agent.reply(UserConfirmResultEvent::new(waiting.reply_id, [yes])).await.unwrap();
    assert_eq!(msg.structured::<Journey>().unwrap().city, "Rome");
}

#[tokio::test]
async fn a_reply_that_ends_without_it_says_why() {
    let mut react = ReactConfig::default();
    (react.max_iters, react.structured_output_grace_iters) = (1, 1);
    let builder = Agent::builder("Friday").model(Scripted::new([])).react_config(react);
    let mut agent = builder.build().unwrap();
    let error = agent.reply_as::<Journey>("Where to?").await.unwrap_err();
    let reason = ReplyFinishedReason::ExceedMaxIters;
    assert!(
        matches!(error.kind(), ErrorKind::NoStructuredOutput { finished_reason: Some(why) } if *why == reason),
        "{error}"
    );

    let token = CancelToken::new();
    token.cancel();
    let error = agent.reply_as::<Journey>("Where to?").cancel_on(token).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no structured output: the reply was interrupted");
}

#[tokio::test]
async fn a_stream_ends_with_a_message_that_has_it() {
    let mut agent = agent(outputs([json!({"city": "Rome"})]));
    let mut events = agent.reply_as::<Journey>("Where to?").stream();
    let mut ends = 0;
    while let Some(event) = events.next().await {
        ends += usize::from(matches!(event.kind, EventKind::ReplyEnd { .. }));
    }
    assert_eq!(ends, 1);
    let msg = events.finish().await.unwrap();
    assert_eq!(msg.structured::<Journey>().unwrap().city, "Rome");

    let error = msg.structured::<Stay>().unwrap_err().to_string();
    assert!(error.contains("Stay") && error.contains("missing field `hotel`"), "{error}");
}

#[tokio::test]
async fn what_is_no_object_is_refused_before_the_model_is_asked() {
    let mut agent = agent(Vec::new());
    let error = agent.reply_as::<Vec<String>>("Which cities?").await.unwrap_err().to_string();
    assert!(error.contains("\"array\"") && error.contains("put it into a struct"), "{error}");
}
