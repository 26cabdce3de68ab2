//! Spans of a choice, and of what was chosen.

use serde_json::{Value, json};

use crate::support::{PLAIN, case, run, said};

#[test]
fn model_router__with_tracing() {
    let recording = run(case("model_router/with_tracing"));
    let reply = recording.call(0);
    // The choice is a model call of its own, beside the one that answers.
    let spans: Vec<_> =
        reply.spans().iter().map(|span| (&span["name"], &span["parent"], &span["status"])).collect();
    let (ok, root) = (json!("OK"), json!(0));
    assert_eq!(
        spans,
        [
            (&json!("invoke_agent Friday"), &Value::Null, &ok),
            (&json!("chat mock-router"), &root, &ok),
            (&json!("chat mock-deep"), &root, &ok),
        ]
    );
    assert_eq!(reply.spans()[2]["attributes"]["gen_ai.request.model"], "mock-deep");
    // Nothing of it is an event, and events name the model that answers.
    assert_eq!(reply.event_types(), PLAIN);
    assert_eq!(reply.events_of("MODEL_CALL_START")[0]["model_name"], "mock-deep");
    let requests: Vec<_> = reply.value()["model_requests"].as_array().unwrap().iter().collect();
    assert_eq!([&requests[0]["model"], &requests[1]["model"]], ["router", "deep"]);
    assert_eq!(requests[0]["messages"][0]["content"][0]["text"], "<<prompt:model_router>>");
    assert_eq!(requests[0]["messages"][1]["content"][0]["text"], "hi");
    assert_eq!(said(reply), ["hi", "from deep"]);
    assert_eq!(reply.value()["state"]["middle_context"], json!({"ModelRouterMiddleware": {"r1": "deep"}}));
}
