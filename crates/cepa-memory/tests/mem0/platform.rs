//! The hosted platform, by a copy of its published routes that keeps each memory under one entity, as it does.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Json, Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    routing::{get, post},
};
use cepa_core::{
    serde_json::{Value, json},
    testing::ScriptedModel,
};
use cepa_memory::mem0::{
    Mem0, Mem0Add, Mem0Added, Mem0Message, Mem0Middleware, Mem0Platform, Mem0Search, Mem0Server,
};

use crate::support::{agent, hints, serve};

const KEY: &str = "m0-key-of-the-test";

#[derive(Clone, Default)]
struct Platform(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    kept: Vec<Value>,
    /// How often an event says that it is pending.
    pending: usize,
    /// How it ends then.
    status: &'static str,
    /// Events cannot be asked for.
    is_busy: bool,
}

type Answer = (StatusCode, Json<Value>);

impl Platform {
    fn ends(status: &'static str, pending: usize) -> Self {
        Self(Arc::new(Mutex::new(Inner { pending, status, ..Inner::default() })))
    }

    async fn serve(&self) -> String {
        let router = Router::new()
            .route("/v3/memories/add/", post(add))
            .route("/v3/memories/search/", post(search))
            .route("/v1/event/{id}/", get(event));
        serve(router.with_state(self.clone())).await
    }
}

fn check(headers: &HeaderMap) -> Option<Answer> {
    let signed_in = headers.get("authorization").is_some_and(|value| *value == *format!("Token {KEY}"));
    let refusal = json!({"detail": format!("Invalid token: {headers:?}")});
    (!signed_in).then_some((StatusCode::UNAUTHORIZED, Json(refusal)))
}

async fn add(State(platform): State<Platform>, headers: HeaderMap, Json(body): Json<Value>) -> Answer {
    if let Some(refusal) = check(&headers) {
        return refusal;
    }
    let mut inner = platform.0.lock().unwrap();
    let mut results = Vec::new();
    for message in body["messages"].as_array().unwrap() {
        let of_agent = message["role"] == "assistant" && body["agent_id"].is_string();
        let key = if of_agent { "agent_id" } else { "user_id" };
        let id = inner.kept.len().to_string();
        inner.kept.push(json!({"id": id, "memory": message["content"], key: body[key], "score": 0.5}));
        results.push(json!({"id": id, "event": "ADD", "data": {"memory": message["content"]}}));
    }
    let mut answer = json!({"event_id": "e-1", "status": "PENDING"});
    if body["infer"] == false {
        answer["results"] = results.into();
    }
    (StatusCode::OK, Json(answer))
}

async fn search(State(platform): State<Platform>, headers: HeaderMap, Json(body): Json<Value>) -> Answer {
    if let Some(refusal) = check(&headers) {
        return refusal;
    }
    if !body["filters"].is_object() || !body["user_id"].is_null() {
        return (StatusCode::BAD_REQUEST, Json(json!({"error": "ids belong into the filters"})));
    }
    let inner = platform.0.lock().unwrap();
    let found: Vec<_> = inner.kept.iter().filter(|memory| fits(memory, &body["filters"])).cloned().collect();
    (StatusCode::OK, Json(json!({"results": found})))
}

async fn event(State(platform): State<Platform>, Path(id): Path<String>) -> Answer {
    let mut inner = platform.0.lock().unwrap();
    if id != "e-1" {
        return (StatusCode::NOT_FOUND, Json(json!({"error": "no such event"})));
    }
    if inner.is_busy {
        return (StatusCode::TOO_MANY_REQUESTS, Json(json!({"error": "slow down"})));
    }
    if inner.pending > 0 {
        inner.pending -= 1;
        return (StatusCode::OK, Json(json!({"status": "PENDING"})));
    }
    let results: Vec<_> = inner
        .kept
        .iter()
        .map(|memory| {
            json!({"id": memory["id"], "event": "ADD",
        "data": {"memory": memory["memory"]}})
        })
        .collect();
    (StatusCode::OK, Json(json!({"status": inner.status, "results": results})))
}

/// The platform's filters: all of the ids, or one of several.
fn fits(memory: &Value, filters: &Value) -> bool {
    filters.as_object().unwrap().iter().all(|(key, value)| match key.as_str() {
        "OR" => value.as_array().unwrap().iter().any(|one| fits(memory, one)),
        "AND" => value.as_array().unwrap().iter().all(|one| fits(memory, one)),
        id => memory[id] == *value,
    })
}

fn tea() -> Mem0Add {
    Mem0Add::new(vec![Mem0Message::user("likes tea")], "alice")
}

#[tokio::test]
async fn r42_what_the_layer_wrote_for_a_user_and_an_agent_is_found() {
    let platform = Platform::ends("SUCCEEDED", 0);
    let url = platform.serve().await;
    let ask = |agent_memories: Option<bool>, user: &'static str| {
        let client = Mem0Platform::builder(KEY).url(&url);
        let client = match agent_memories {
            Some(found) => client.agent_memories(found),
            None => client,
        };
        let memory = Mem0Middleware::builder(client.build().unwrap())
            .user_id(user)
            .agent_id("friday")
            .await_write(true);
        async move {
            let model = ScriptedModel::new(["It is called Otto."]);
            agent(&model, memory.build().unwrap()).build().unwrap().reply("My dog?").await.unwrap();
            hints(&model).concat()
        }
    };
    assert_eq!(ask(None, "alice").await, "");
    // What is kept under the agent alone is every user's, so it is left out.
    let told = ask(None, "alice").await;
    assert!(told.contains("- My dog?\n") && !told.contains("Otto"), "{told}");
    assert_eq!(ask(None, "bob").await, "");
    // Unless it is asked for.
    let told = ask(Some(true), "alice").await;
    assert!(told.contains("- My dog?\n") && told.contains("- It is called Otto.\n"), "{told}");
}

#[tokio::test]
async fn work_that_is_pending_is_told_apart_from_work_that_is_done() {
    let url = Platform::ends("SUCCEEDED", 1).serve().await;
    let client = Mem0Platform::builder(KEY).url(&url).build().unwrap();
    let pending = Mem0Added::Pending { event_id: Some("e-1".into()) };
    assert_eq!(client.add(tea()).await.unwrap(), pending);
    assert_eq!(client.added("e-1").await.unwrap(), pending);
    let Mem0Added::Done(memories) = client.added("e-1").await.unwrap() else { panic!("not done") };
    assert_eq!(memories[0].memory, "likes tea");
    // What is kept as it is, is done at once.
    let mut raw = tea();
    raw.infer = false;
    assert!(matches!(client.add(raw).await.unwrap(), Mem0Added::Done(_)));
    assert!(client.added("../../v1/memories").await.is_err());
}

#[tokio::test]
async fn an_addition_may_wait_for_what_becomes_of_it() {
    let client = async |platform: Platform, wait| {
        let url = platform.serve().await;
        Mem0Platform::builder(KEY).url(url).wait_for_additions(wait).build().unwrap()
    };
    let done =
        client(Platform::ends("SUCCEEDED", 1), Duration::from_secs(60)).await.add(tea()).await.unwrap();
    assert!(matches!(done, Mem0Added::Done(_)), "{done:?}");
    let endless = client(Platform::ends("SUCCEEDED", 1000), Duration::from_millis(100)).await;
    assert_eq!(endless.add(tea()).await.unwrap(), Mem0Added::Pending { event_id: Some("e-1".into()) });
    // What becomes of it cannot be asked: it was taken in all the same, and is not to be added again.
    let busy = Platform::ends("SUCCEEDED", 0);
    busy.0.lock().unwrap().is_busy = true;
    let busy = client(busy, Duration::from_millis(100)).await;
    assert_eq!(busy.add(tea()).await.unwrap(), Mem0Added::Pending { event_id: Some("e-1".into()) });
    let forever = client(Platform::ends("SUCCEEDED", 0), Duration::MAX).await;
    assert!(matches!(forever.add(tea()).await.unwrap(), Mem0Added::Done(_)));
    let failed = client(Platform::ends("FAILED", 0), Duration::from_secs(60)).await.add(tea()).await;
    assert!(failed.unwrap_err().to_string().contains("failed"));
}

#[tokio::test]
async fn a_wrong_key_is_refused_and_no_key_is_ever_told() {
    let url = Platform::default().serve().await;
    let client = Mem0Platform::builder("m0-wrong-key").url(&url).build().unwrap();
    let error = client.search(Mem0Search::new("tea", "alice")).await.unwrap_err().to_string();
    assert!(error.contains("401") && error.contains("[key]"), "{error}");
    for told in [error, format!("{client:?}"), format!("{:?}", Mem0Platform::builder("m0-wrong-key"))] {
        assert!(!told.contains("m0-wrong"), "{told}");
    }
    // A password in a URL is one, too.
    let url = "http://admin:hunter22@127.0.0.1:8000/";
    for told in [
        format!("{:?}", Mem0Platform::builder(KEY).url(url)),
        format!("{:?}", Mem0Server::builder(url)),
        format!("{:?}", Mem0Server::builder(url).build().unwrap()),
    ] {
        assert!(told.contains("127.0.0.1:8000") && !told.contains("hunter22"), "{told}");
    }
    assert!(Mem0Platform::builder(" ").build().unwrap_err().to_string().contains("empty"));
}
