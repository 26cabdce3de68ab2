//! What goes wrong with memory is told, and never ends a reply.

use std::time::Duration;

use cepa_core::testing::{Answer, Logged, ScriptedModel};
use cepa_core::{ErrorType, ModelError};
use cepa_memory::AgenticMemoryMiddleware;

use crate::support::{Memories, builder, choice, hints, prompt};

const LONG: Duration = Duration::from_secs(60);

#[tokio::test(start_paused = true)]
async fn a_folder_that_cannot_be_used_does_not_end_a_reply() {
    let memories = Memories::with(&[("file", "")]);
    let warnings = Logged::warnings("cepa_memory");
    let layer = AgenticMemoryMiddleware::builder(memories.path("file")).wait_up_to(LONG).build().unwrap();
    let model = ScriptedModel::new(["Hello."]);
    let reply = builder(&model).middleware(layer).build().unwrap().reply("Hi").await.unwrap();
    assert_eq!(reply.text().as_deref(), Some("Hello."));
    assert!(prompt(&model.requests()[0]).ends_with(cepa_memory::texts::MEMORY_UNREADABLE));
    let mut told = warnings.take();
    told.sort();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.iter().all(|line| line.contains("cannot be the folder of memories")), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_to_choose_is_told_once_in_the_log() {
    let memories = Memories::with(&[("a.md", "A")]);
    let failing = || Answer::new().fails(ModelError::new(ErrorType::Connection, "reset"));
    let nonsense = || Answer::from("I choose a.md");
    for answers in [[failing(), failing()], [nonsense(), nonsense()]] {
        let warnings = Logged::warnings("cepa_memory");
        let selector = ScriptedModel::new(answers);
        let layer = memories.builder().retrieval_model(selector).wait_up_to(LONG).build().unwrap();
        let model = ScriptedModel::new(["Hello."]);
        builder(&model).middleware(layer).build().unwrap().reply("Hi").await.unwrap();
        assert!(hints(&model.requests()[0]).is_empty());
        let told = warnings.take();
        assert!(told.len() == 1 && told[0].contains("no memories are chosen"), "{told:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn two_layers_in_one_agent_each_bring_what_they_choose() {
    let (mine, ours) = (Memories::with(&[("a.md", "MINE")]), Memories::with(&[("a.md", "OURS")]));
    let layer = |memories: &Memories, tools: bool| {
        let selector = ScriptedModel::new([choice(&["a.md"])]);
        memories.builder().retrieval_model(selector).wait_up_to(LONG).tools(tools).build().unwrap()
    };
    let model = ScriptedModel::new(["Hello."]);
    let agent = builder(&model).middleware(layer(&mine, true)).middleware(layer(&ours, false));
    agent.build().unwrap().reply("Hi").await.unwrap();
    let hints = hints(&model.requests()[0]).join("\n");
    assert!(hints.contains("MINE") && hints.contains("OURS"), "{hints}");
}

#[test]
fn limits_of_nothing_are_refused_when_the_layer_is_built() {
    let memories = Memories::new();
    let error = |error: cepa_memory::AgenticMemoryError| error.to_string();
    assert_eq!(
        error(memories.builder().retrieval_max_files(0).build().unwrap_err()),
        "`retrieval_max_files` must be at least 1"
    );
    assert!(error(AgenticMemoryMiddleware::new("").unwrap_err()).contains("cannot be the folder"));
}
