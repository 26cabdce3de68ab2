//! What is left of a search that fails, or of a model that does.

use serde_json::{Value, json};

use crate::support::{asked, case, run, said};

const ALPHA_AND_BETA: &str = "KB[[1] (source: a.txt)\nalpha\n\n[2] (source: b.txt)\nbeta]";

fn search(base: &str, query: &str) -> Value {
    json!({"backend": "kb", "op": "search", "kb": base, "queries": [query], "top_k": 5, "score_threshold": null})
}

/// The hint at the end of a request.
fn hint(request: &Value) -> &Value {
    &request["messages"].as_array().unwrap().last().unwrap()["content"][0]["hint"]
}

#[test]
fn rag__static_model_fails() {
    let recording = run(case("rag/static_model_fails"));
    let (failed, next) = (recording.call(0), recording.call(1));
    assert_eq!(failed.value()["error"], json!({"kind": "scripted", "message": "boom"}));
    assert_eq!(failed.value()["backend"], json!([search("kb1", "user: q")]));
    // The hint was there for the model, and no message is left of it.
    assert_eq!(*hint(&failed.value()["model_requests"][0]), ALPHA_AND_BETA);
    assert_eq!(said(failed), ["q"]);
    let request = &next.value()["model_requests"][0];
    assert_eq!((asked(request).len(), hint(request).as_str()), (3, Some(ALPHA_AND_BETA)));
    assert_eq!(said(next), ["q", "r", "back"]);
}

#[test]
fn rag__static_one_of_two_fails() {
    let recording = run(case("rag/static_one_of_two_fails"));
    let reply = recording.call(0);
    assert_eq!(reply.value()["backend"], json!([search("kb1", "user: hi"), search("kb2", "user: hi")]));
    assert_eq!(*hint(&reply.value()["model_requests"][0]), ALPHA_AND_BETA);
    assert_eq!(reply.events_of("HINT_BLOCK")[0]["hint"], ALPHA_AND_BETA);
    assert_eq!(said(reply), ["hi", "ok"]);
}
