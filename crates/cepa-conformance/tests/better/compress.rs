//! Keeping the context short.

use crate::support::{asked, case, result, run, said};

#[test]
fn compress__summary_fails_overflow_retry() {
    let recording = run(case("compress/summary_fails_overflow_retry"));
    let reply = recording.call(0);
    let requests: Vec<_> = reply.requests().iter().map(asked).collect();
    let long = "long ".repeat(60);
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[0][..2], [long.clone(), long.clone()]);
    // The second try keeps the newest message, which fits.
    assert_eq!(requests[1].len(), 2);
    assert_eq!(requests[1][0], long);
    assert_eq!(requests[2], ["SUMMARY[short]", "now"]);
    assert_eq!(reply.state()["summary"], "SUMMARY[short]");
    assert_eq!(said(reply), ["now", "ok"]);
    assert_eq!(reply.text(), "ok");
}

#[test]
fn compress__tool_reports_unchanged() {
    let recording = run(case("compress/tool_reports_unchanged"));
    let reply = recording.call(0);
    assert_eq!(result(reply, "t1"), ("success", "<<tool:context_compressed>>".to_owned()));
    assert_eq!(reply.state()["summary"], "SUMMARY[short]");
    // The number of messages is the same; what became less is the first one.
    assert_eq!(reply.context().len(), 3);
    assert_eq!(reply.context()[0]["id"], "h1");
    assert!(reply.context()[0]["content"].as_array().unwrap().len() < 20);
    assert_eq!(reply.text(), "ok");
}
