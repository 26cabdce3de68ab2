//! Memory by mem0, before a client that knows what the case says.

use std::{sync::Arc, time::Duration};

use cepa_core::{BoxError, BoxFuture, Middleware};
use cepa_memory::{
    Mode,
    mem0::{Mem0, Mem0Add, Mem0Added, Mem0Memory, Mem0Middleware, Mem0Search},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{super::options::Options, BuiltinLayer};
use crate::{case::LayerSpec, error::RunError, log::Log, world::World};

/// Whose memories these are, unless a case says otherwise.
const USER: &str = "alice";
/// How long the runner waits for writes: the fake answers at once.
const FLUSH: Duration = Duration::from_secs(5);

pub(super) fn build(spec: &LayerSpec, world: &World) -> Result<Box<dyn BuiltinLayer>, RunError> {
    let options = Options::new(spec);
    let client = FakeClient { script: options.or_default("client")?, log: world.log.clone() };
    let user = options.get("user_id")?.unwrap_or_else(|| USER.to_owned());
    let mut builder = Mem0Middleware::builder(client).user_id(user);
    if let Some(mode) = options.get::<String>("mode")? {
        builder = builder.mode(match mode.as_str() {
            "static_control" => Mode::StaticControl,
            "agent_control" => Mode::AgentControl,
            "both" => Mode::Both,
            _ => return Err(RunError::not_supported(format!("mode {mode} of mem0"))),
        });
    }
    if let Some(agent) = options.get::<String>("agent_id")? {
        builder = builder.agent_id(agent);
    }
    if let Some(top_k) = options.get("top_k")? {
        builder = builder.top_k(top_k);
    }
    if let Some(threshold) = options.get("threshold")? {
        builder = builder.threshold(threshold);
    }
    if let Some(only) = options.get("scope_search_by_agent")? {
        builder = builder.scope_search_by_agent(only);
    }
    if let Some(infer) = options.get("infer")? {
        builder = builder.infer(infer);
    }
    if let Some(wait) = options.get("await_write")? {
        builder = builder.await_write(wait);
    }
    Ok(Box::new(Mem0Layer(Arc::new(builder.build().map_err(RunError::layer(spec))?))))
}

struct Mem0Layer(Arc<Mem0Middleware>);

impl BuiltinLayer for Mem0Layer {
    fn middleware(&self) -> Arc<dyn Middleware> {
        self.0.clone()
    }

    fn flush(&self) -> BoxFuture<'_, ()> {
        // What is not written is missing in the recording.
        Box::pin(async {
            _ = Mem0Middleware::flush(&self.0, FLUSH).await;
        })
    }
}

/// What the client of a case does.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Script {
    memories: Vec<String>,
    /// What comes of what is added; by default it is kept.
    extracted: Option<Vec<Value>>,
    search_raise: Option<String>,
    add_raise: Option<String>,
}

struct FakeClient {
    script: Script,
    log: Log,
}

impl Mem0 for FakeClient {
    fn search(&self, search: Mem0Search) -> BoxFuture<'_, Result<Vec<Mem0Memory>, BoxError>> {
        Box::pin(async move {
            let mut filters = json!({"user_id": search.user_id});
            set(&mut filters, "agent_id", search.agent_id);
            let mut call = json!({"backend": "mem0", "op": "search", "query": search.query, "filters": filters,
                "top_k": search.top_k});
            set(&mut call, "threshold", search.threshold);
            self.log.backend(call);
            match &self.script.search_raise {
                Some(message) => Err(message.as_str().into()),
                None => Ok(self.script.memories.iter().map(Mem0Memory::new).collect()),
            }
        })
    }

    fn add(&self, add: Mem0Add) -> BoxFuture<'_, Result<Mem0Added, BoxError>> {
        Box::pin(async move {
            let mut call =
                json!({"backend": "mem0", "op": "add", "messages": add.messages, "user_id": add.user_id});
            set(&mut call, "agent_id", add.agent_id);
            set(&mut call, "infer", (!add.infer).then_some(false));
            self.log.backend(call);
            match (&self.script.add_raise, &self.script.extracted) {
                (Some(message), _) => Err(message.as_str().into()),
                (None, Some(extracted)) if extracted.is_empty() && add.infer => Ok(Mem0Added::Nothing),
                _ => Ok(Mem0Added::Done(Vec::new())),
            }
        })
    }
}

/// Sets a field that is there.
fn set(object: &mut Value, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        object[key] = value.into();
    }
}
