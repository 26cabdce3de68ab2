//! What cannot be set, and how it is said.

use std::time::Duration;

use cepa_core::testing::ScriptedModel;
use cepa_models::HttpRerank;
use cepa_rag::{RagMiddleware, RagMiddlewareBuilder, RagMode};

use crate::support::Service;

fn builder() -> RagMiddlewareBuilder {
    RagMiddleware::builder([Service::finding("a", &[]), Service::finding("b", &[])])
}

#[test]
fn what_cannot_be_is_refused_with_what_to_do() {
    let http = || HttpRerank::builder("r").base_url("http://127.0.0.1:9").build().unwrap();
    let refused = [
        (RagMiddleware::builder(Vec::<Service>::new()), "at least one retriever"),
        (RagMiddleware::builder([Service::finding(" ", &[])]), "has no name"),
        (RagMiddleware::builder(["a", "a"].map(|name| Service::finding(name, &[]))), "called `a`"),
        (builder().top_k(0), "`top_k` is 0: it must be from 1 to 50"),
        (builder().top_k(51), "`top_k` is 51"),
        (builder().score_threshold(f32::NAN), "no number"),
        (builder().top_k(6).rerank_candidate_k(5), "is 5: it must be from `top_k`, which is 6, to 50"),
        (builder().rerank_candidate_k(51), "is 51"),
        (builder().hint_template("KB"), "`{context}` 0 times"),
        (builder().hint_template("{context} {context}"), "`{context}` 2 times"),
        (builder().rerank_prompt("Sort!"), "no `{query}`"),
        (builder().search_deadline(Duration::ZERO), "a deadline is 0"),
        (builder().rerank_deadline(Duration::ZERO), "a deadline is 0"),
        (builder().rerank_model(ScriptedModel::new([""; 0])).rerank_endpoint(http()), "not both"),
    ];
    for (builder, words) in refused {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    builder().top_k(50).rerank_candidate_k(50).hint_template("{{context}} {").build().unwrap();
}

#[test]
fn modes_have_agentscopes_names() {
    let modes = serde_json::to_string(&[RagMode::Agentic, RagMode::Static]).unwrap();
    assert_eq!(modes, r#"["agentic","static"]"#);
}
