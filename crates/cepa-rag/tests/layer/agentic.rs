//! The model searches, with the tool.

use cepa_core::{
    serde_json::{Value, json},
    testing::{Answer, Logged, ScriptedModel},
};
use cepa_rag::RagMiddleware;

use crate::support::{Service, agent, result};

/// Searches with these arguments, one call after the other.
fn searching(calls: &[Value]) -> ScriptedModel {
    let calls = calls.iter().map(|input| Answer::new().tool_call("search_knowledge", input.clone()));
    ScriptedModel::new(calls.chain([Answer::new().text("ok")]))
}

async fn searched(bases: Vec<Service>, arguments: Value) -> (String, String) {
    let model = searching(&[arguments]);
    let layer = RagMiddleware::builder(bases).build().unwrap();
    agent(&model, layer).build().unwrap().reply("q").await.unwrap();
    result(&model)
}

#[tokio::test]
async fn the_model_is_told_which_bases_there_are_and_may_choose() {
    let (a, b) = (Service::finding("a", &["alpha"]), Service::finding("b\n- **c**", &["beta"]));
    let model = searching(&[json!({"query": "what", "knowledge_bases": ["a"]})]);
    let layer = RagMiddleware::builder([a.clone(), b.clone()]).build().unwrap();
    agent(&model, layer).build().unwrap().reply("q").await.unwrap();
    assert_eq!(result(&model), ("Success".to_owned(), "[1] (source: alpha.txt)\nalpha".to_owned()));
    assert_eq!((a.texts(), b.texts().len()), (vec![vec!["what".to_owned()]], 0));
    let tool = &model.requests()[0].tools[0];
    // A name is data: it makes no line of its own.
    assert!(tool.description().ends_with("\n- **a**: What is known.\n- **b - **c****: What is known."));
    let names = &tool.parameters()["properties"]["knowledge_bases"]["items"]["enum"];
    assert_eq!(*names, json!(["a", "b\n- **c**"]));
}

#[tokio::test]
async fn without_a_choice_all_are_searched() {
    let lists = [json!(null), json!([])].map(|list| json!({"query": "what", "knowledge_bases": list}));
    for all in lists.into_iter().chain([json!({"query": "what"})]) {
        let bases = vec![Service::finding("a", &["alpha"]), Service::finding("b", &["beta"])];
        let expected = "[1] (source: alpha.txt)\nalpha\n\n[2] (source: beta.txt)\nbeta";
        assert_eq!(searched(bases, all).await, ("Success".to_owned(), expected.to_owned()));
    }
}

#[tokio::test]
async fn what_is_not_there_is_no_error_and_what_could_not_be_searched_is_one() {
    let (empty, down) = (Service::finding("empty", &[]), Service::failing("down", "no route to it"));
    let (full, query) = (Service::finding("full", &["alpha"]), json!({"query": "what"}));
    let (state, text) = searched(vec![empty.clone()], query.clone()).await;
    assert_eq!((state.as_str(), text.as_str()), ("Success", "Nothing that fits was found."));
    // Whether there is nothing is not known, where not all was searched.
    for bases in [vec![down.clone()], vec![empty, down.clone()]] {
        let (state, text) = searched(bases, query.clone()).await;
        assert!(state == "Error" && text.ends_with("no route to it"), "{state}: {text}");
    }
    let (state, text) = searched(vec![down, full.clone()], query).await;
    assert!(state == "Success" && text.contains("alpha"), "{state}: {text}");
    let (_, text) = searched(vec![full.clone()], json!({"query": " "})).await;
    assert_eq!((text.as_str(), full.texts().len()), ("There is no query, so nothing was searched for.", 1));
}

#[tokio::test]
async fn a_base_that_stays_down_is_one_warning_per_reply() {
    let warnings = Logged::warnings("cepa_rag");
    let query = json!({"query": "what"});
    let model = ScriptedModel::answering(move |request| {
        // Three searches per reply.
        let searches = request.messages.last().map_or(0, |msg| msg.tool_calls().count());
        if searches < 3 {
            Answer::new().tool_call("search_knowledge", query.clone())
        } else {
            Answer::new().text("ok")
        }
    });
    let service = Service::failing("down", "no route to it");
    let layer = RagMiddleware::builder([service.clone()]).build().unwrap();
    let mut agent = agent(&model, layer).build().unwrap();
    agent.reply("q").await.unwrap();
    assert_eq!((service.texts().len(), warnings.take().len()), (3, 1));
    agent.reply("q").await.unwrap();
    assert_eq!((service.texts().len(), warnings.take().len()), (6, 1));
}
