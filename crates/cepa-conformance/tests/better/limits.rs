//! The end of the rounds.

use serde_json::json;

use crate::support::{case, count, result, run};

#[test]
fn limits__max_iters_final_still_calls_tool() {
    let recording = run(case("limits/max_iters_final_still_calls_tool"));
    let reply = recording.call(0);
    assert_eq!(reply.requests().len(), 2);
    assert_eq!(reply.requests()[1]["tool_choice"]["mode"], "none");
    assert_eq!(count(reply, "tool f"), 1);
    assert_eq!(count(reply, "check f"), 1);
    assert_eq!(result(reply, "t1").0, "success");
    let (state, text) = result(reply, "t2");
    assert_eq!(state, "error");
    assert!(text.contains("not run"), "{text}");
    let types = reply.event_types();
    assert_eq!(types[types.len() - 3..], ["TOOL_RESULT_END", "EXCEED_MAX_ITERS", "REPLY_END"]);
    assert_eq!(reply.finished_reason(), Some("exceed_max_iters"));
    assert_eq!(reply.text(), "<<msg:max_iters_exceeded>>");
    assert_eq!(reply.state()["reply_context"]["cur_iter"], 2);

    // The answer's own text, where it has one.
    let case = case_with_words();
    let recording = run(case);
    let reply = recording.call(2);
    assert_eq!(reply.text(), "as far as I got");
    assert_eq!(reply.finished_reason(), Some("exceed_max_iters"));
}

/// A second reply, whose last answer has words beside the call.
fn case_with_words() -> cepa_conformance::Case {
    let call = |id: &str| json!({"tool_call": {"id": id, "name": "f", "input": "{}"}});
    let again = json!({"type": "reply", "input": {"role": "user", "name": "user", "text": "again"}});
    // The third scripted answer is a plain text: it is used up by the second reply.
    case("limits/max_iters_final_still_calls_tool")
        .then(again.clone())
        .and_then(|case| case.then(again))
        .and_then(|case| case.answers("main", json!({"chunks": [call("t3")]})))
        .and_then(|case| case.answers("main", json!({"chunks": [{"text": "as far as I got"}, call("t4")]})))
        .unwrap()
}
