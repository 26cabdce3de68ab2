//! The budget of a reply.

use cepa_conformance::CallRecord;
use serde_json::{Value, json};

use crate::support::{asked, case, count, refusal, result, run, said, tokens};

/// What the budget has counted in this reply.
fn spent(call: &CallRecord) -> &Value {
    let reply = call.state()["reply_context"]["reply_id"].as_str().unwrap();
    &call.state()["middle_context"]["ReplyBudgetControlMiddleware"][reply]
}

/// How many hints of the budget are in the conversation.
fn hints(call: &CallRecord) -> usize {
    call.blocks().filter(|block| block["hint"] == "<<hint:budget>>").count()
}

#[test]
fn budget__added_while_parked() {
    let recording = run(case("budget/added_while_parked"));
    let answered = recording.call(2);
    assert_eq!(answered.error_kind(), None);
    assert_eq!(result(answered, "t1"), ("success", "f ok".to_owned()));
    assert_eq!(answered.text(), "done");
    // What was spent before the layer was there does not count.
    assert_eq!(spent(answered), 15);
    assert_eq!(hints(answered), 0);
    assert_eq!(said(answered), ["q", "done"]);
}

#[test]
fn budget__compression_does_not_count() {
    let recording = run(case("budget/compression_does_not_count"));
    let reply = recording.call(0);
    // 30 + 7 for the summary, over the budget of 16; 10 + 5 for the answer.
    assert_eq!(spent(reply), 52);
    assert_eq!(reply.requests()[1]["tool_choice"]["mode"], "none");
    assert_eq!(hints(reply), 1);
    assert_eq!(tokens(&reply.message()["usage"]), (40, 12));
    assert_eq!(reply.state()["summary"], "SUMMARY[short]");
}

#[test]
fn budget__inner_layer_drops_model_call_end() {
    let recording = run(case("budget/inner_layer_drops_model_call_end"));
    let reply = recording.call(0);
    assert_eq!(reply.events_of("MODEL_CALL_END").len(), 0);
    assert_eq!(spent(reply), 30);
    assert_eq!(reply.requests()[1]["tool_choice"]["mode"], "none");
    assert_eq!(hints(reply), 1);
    assert_eq!(reply.text(), "done");
}

#[test]
fn budget__over_and_model_insists() {
    let recording = run(case("budget/over_and_model_insists"));
    let reply = recording.call(0);
    assert_eq!(count(reply, "tool f"), 1);
    assert_eq!(result(reply, "t1").0, "success");
    let (state, text) = result(reply, "t2");
    assert_eq!(state, "error");
    assert!(text.contains("not run"), "{text}");
    // No further model call, and one hint only.
    assert_eq!(reply.requests().len(), 2);
    assert_eq!(hints(reply), 1);
    assert_eq!(reply.finished_reason(), Some("completed"));
    assert!(!reply.text().is_empty());
}

#[test]
fn budget__retried_reasoning() {
    let recording = run(case("budget/retried_reasoning"));
    let reply = recording.call(0);
    assert_eq!(reply.text(), "ok");
    assert_eq!(reply.events_of("TEXT_BLOCK_START").len(), reply.events_of("TEXT_BLOCK_END").len());
    assert_eq!(spent(reply), 30);
    assert_eq!(tokens(&reply.message()["usage"]), (20, 10));
}

#[test]
fn budget__two_layers() {
    let refusal = refusal(case("budget/two_layers"));
    assert!(refusal.contains("layers 1 and 2"), "{refusal}");
    assert!(refusal.contains("`ReplyBudgetControlMiddleware`"), "{refusal}");
    assert!(refusal.contains(".keyed("), "{refusal}");
}

#[test]
fn budget__zero_after_own_message() {
    let recording = run(case("budget/zero_after_own_message"));
    let (first, second) = (recording.call(0), recording.call(1));
    assert_eq!((first.text(), second.text()), ("a".to_owned(), "b".to_owned()));
    assert_eq!(second.context()[..2], *first.context());
    let new = &second.context()[2];
    assert_eq!(new["id"], second.message()["id"]);
    assert_eq!(new["content"][0], json!({"type": "hint", "hint": "<<hint:budget>>", "source": null}));
    assert_eq!(asked(&second.requests()[0]), ["q", "a", ""]);
}
