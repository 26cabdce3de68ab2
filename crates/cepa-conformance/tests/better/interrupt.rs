//! Interrupts of a reply that waits.

use serde_json::json;

use crate::support::{case, result, run};

#[test]
fn interrupt__parked_wrong_reply_id() {
    let right = json!({"type": "interrupt"});
    let recording = run(case("interrupt/parked_wrong_reply_id").then(right).unwrap());
    let (asked, stale, interrupted) = (recording.call(0), recording.call(1), recording.call(2));
    assert_eq!(stale.error_kind(), Some("stale_answer"));
    assert_eq!(stale.event_types(), [""; 0]);
    assert_eq!(stale.state(), asked.state());
    assert_eq!(result(interrupted, "t1"), ("interrupted", "<<tool:interrupted>>".to_owned()));
    assert_eq!(interrupted.finished_reason(), Some("interrupted"));
    assert_eq!(interrupted.text(), "<<msg:interrupted>>");
}
