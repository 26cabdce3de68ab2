//! The real mem0 engine, in a process of its own.

use std::{sync::Arc, time::Duration};

use cepa_core::testing::ScriptedModel;
use cepa_memory::{
    Mode, ServerError,
    mem0::{Mem0, Mem0Add, Mem0Added, Mem0Message, Mem0Middleware, Mem0Search, Mem0Server},
};

use crate::{
    mem0_models, mem0_server,
    support::{agent, hints},
};

const KEY: &str = "key-of-the-test";

struct Engine(mem0_server::Engine);

impl Engine {
    /// `None` when no interpreter is named.
    async fn start() -> Option<Self> {
        let models = mem0_models::serve(&[("terrier", "The user has a dog called Otto")]).await;
        Some(Self(mem0_server::Engine::start(&models, Some(KEY)).await?))
    }

    fn server(&self) -> Mem0Server {
        Mem0Server::builder(&self.0.url).api_key(KEY).build().unwrap()
    }

    fn memory(&self, user: &str, agent: &str) -> cepa_memory::mem0::Mem0Builder {
        Mem0Middleware::builder(self.server())
            .user_id(user)
            .agent_id(agent)
            .mode(Mode::StaticControl)
            .search_deadline(Duration::from_secs(60))
            .await_write(true)
    }

    /// The hint that a new session gets with this question.
    async fn told(&self, memory: Mem0Middleware, question: &str) -> String {
        let model = ScriptedModel::new(["I see."]);
        agent(&model, memory).build().unwrap().reply(question).await.unwrap();
        hints(&model).concat()
    }
}

#[tokio::test]
async fn the_real_engine_remembers_what_an_earlier_session_was_told() {
    let Some(engine) = Engine::start().await else { return };
    // Its model picks out what is worth it.
    let first = Arc::new(engine.memory("alice", "friday").await_write(false).build().unwrap());
    let model = ScriptedModel::new(["A fine name."]);
    let mut session = agent(&model, first.clone()).build().unwrap();
    session.reply("I have got a terrier and named him Otto").await.unwrap();
    assert!(hints(&model).is_empty());
    first.flush(Duration::from_secs(60)).await.unwrap();

    let question = "What is the dog of the user called?";
    let told = engine.told(engine.memory("alice", "friday").build().unwrap(), question).await;
    assert!(told.contains("- The user has a dog called Otto\n"), "{told}");
    // Another user knows nothing of it, another agent only where it may.
    let told = engine.told(engine.memory("bob", "friday").build().unwrap(), question).await;
    assert_eq!(told, "");
    let told = engine.told(engine.memory("alice", "cook").build().unwrap(), question).await;
    assert_eq!(told, "");
    let all = engine.memory("alice", "cook").scope_search_by_agent(false).build().unwrap();
    let told = engine.told(all, question).await;
    assert!(told.contains("Otto"), "{told}");
}

#[tokio::test]
async fn the_real_engine_keeps_a_turn_as_it_is_and_tells_what_was_not_worth_it() {
    let Some(engine) = Engine::start().await else { return };
    let raw = engine.memory("alice", "friday").infer(false).build().unwrap();
    let model = ScriptedModel::new(["Green tea it is."]);
    agent(&model, raw).build().unwrap().reply("I drink green tea").await.unwrap();
    let told = engine.told(engine.memory("alice", "friday").build().unwrap(), "green tea").await;
    assert!(told.contains("- I drink green tea\n") && told.contains("- Green tea it is.\n"), "{told}");

    // Through the trait, as a layer of another's would use it.
    let server = engine.server();
    let (search, add) =
        (Mem0Search::new("tea", "alice"), Mem0Add::new(vec![Mem0Message::user("Nothing to see")], "alice"));
    assert_eq!(server.add(add).await.unwrap(), Mem0Added::Nothing);
    let found = server.search(search).await.unwrap();
    let id = found[0].id.clone().unwrap();
    assert!(found[0].score.is_some());
    assert_eq!(server.get(&id).await.unwrap().unwrap().memory, found[0].memory);
    assert_eq!(server.get("00000000-0000-0000-0000-000000000000").await.unwrap(), None);

    // No id at all, and no key.
    let status = |error: &cepa_core::BoxError| match error.downcast_ref() {
        Some(ServerError::Refused { status, .. }) => *status,
        _ => panic!("{error}"),
    };
    let error = server.add(Mem0Add::new(vec![Mem0Message::user("likes tea")], "")).await.unwrap_err();
    assert_eq!(status(&error), 400, "{error}");
    assert!(error.to_string().contains("At least one identifier"), "{error}");
    let stranger = Mem0Server::builder(&engine.0.url).api_key("wrong-key").build().unwrap();
    let error = stranger.search(Mem0Search::new("tea", "alice")).await.unwrap_err();
    assert_eq!(status(&error), 401, "{error}");
    assert!(error.to_string().contains("Invalid API key"), "{error}");
}
