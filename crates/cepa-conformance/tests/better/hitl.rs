//! Questions to a person, and the answers.

use serde_json::json;

use crate::support::{asked, case, count, result, run};

#[test]
fn hitl__confirm_wrong_reply_id() {
    let right = json!({"type": "confirm", "results": [{"tool_call_id": "t1", "confirmed": true}]});
    let recording = run(case("hitl/confirm_wrong_reply_id").then(right).unwrap());
    let (asked, stale, answered) = (recording.call(0), recording.call(1), recording.call(2));
    assert_eq!(asked.event_types().last(), Some(&"REQUIRE_USER_CONFIRM"));
    assert_eq!(stale.error_kind(), Some("stale_answer"));
    let message = stale.error_message().unwrap();
    assert!(message.contains("somebody-else"), "{message}");
    assert_eq!(stale.event_types(), [""; 0]);
    assert_eq!(stale.trace(), [""; 0]);
    assert_eq!(stale.state(), asked.state());
    assert_eq!(result(answered, "t1"), ("success", "f ok".to_owned()));
    assert_eq!(answered.text(), "done");
}

#[test]
fn hitl__deny_with_stop_on_reject() {
    let next = json!({"type": "reply", "input": {"role": "user", "name": "user", "text": "then"}});
    let recording = run(case("hitl/deny_with_stop_on_reject").then(next).unwrap());
    let denied = recording.call(1);
    assert_eq!(result(denied, "t1"), ("denied", "<<tool:denied_by_user name=f>>".to_owned()));
    assert_eq!(denied.requests().len(), 0);
    assert_eq!(denied.finished_reason(), Some("completed"));
    assert!(!denied.text().is_empty());
    let next = recording.call(2);
    assert_eq!(next.error_kind(), None);
    assert_eq!(next.text(), "fine");
    assert_eq!(count(next, "tool f"), 0);
}

#[test]
fn hitl__modify_name_to_denied_tool() {
    let recording = run(case("hitl/modify_name_to_denied_tool"));
    let answered = recording.call(1);
    assert_eq!(result(answered, "t1"), ("denied", "<<permission:denied_by_rule name=g>>".to_owned()));
    assert_eq!(count(answered, "tool g") + count(answered, "tool f"), 0);
    // The reply goes on all the same.
    assert_eq!(answered.text(), "done");
}

#[test]
fn hitl__observe_while_parked() {
    let recording = run(case("hitl/observe_while_parked")
        .answers("main", json!({"chunks": [{"text": "once more"}]}))
        .unwrap());
    let (observed, answered, next) = (recording.call(1), recording.call(2), recording.call(3));
    assert_eq!(observed.error_kind(), None);
    // It is put before the reply that waits, so that nothing comes between a call and its result.
    let ids: Vec<_> = observed.context().iter().map(|message| &message["id"]).collect();
    assert_eq!(ids, ["u1", "o1", "r1"]);
    assert_eq!(answered.error_kind(), None);
    assert_eq!(result(answered, "t1"), ("success", "f ok".to_owned()));
    assert_eq!(answered.text(), "done");
    assert_eq!(asked(&answered.requests()[0]), ["q", "psst", ""]);
    assert_eq!(next.text(), "once more");
}
