//! Ten thousand agents that wait for their model at once, with three layers on every hook.

use std::{fmt, hint::black_box, sync::Arc, time::Duration};

use cepa_core::{
    Agent, AgentDefinition, BoxFuture, BuildError, ChatChunk, ChatModel, ChatResponse, ModelOutlet,
    ModelRequest, Result,
};
use tokio::{runtime::Builder, task::JoinSet};

use super::{US, timed};
use crate::{Error, Figure, onion::AllHooks};

pub(super) const AGENTS: usize = 10_000;
const LAYERS: usize = 3;
const DELTAS: usize = 20;
const TIMES: usize = 5;

/// Waits as for a server, streams, and calls a function before it ends.
struct Slow(Arc<dyn Fn() + Send + Sync>);

impl fmt::Debug for Slow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Slow")
    }
}

impl ChatModel for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    fn call(&self, _request: ModelRequest, out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            for _ in 0..DELTAS {
                out.emit(ChatChunk::text("tok ")).await;
            }
            (self.0)();
            Ok(ChatResponse::streamed())
        })
    }
}

/// The agents' definition. `at_end` is called once in each reply, when everything that it needs is there.
pub(super) fn definition(at_end: Arc<dyn Fn() + Send + Sync>) -> Result<AgentDefinition, BuildError> {
    let builder = Agent::builder("a").system_prompt("You are a helpful assistant.").model(Slow(at_end));
    (0..LAYERS).fold(builder, |builder, _| builder.middleware(AllHooks)).define()
}

pub(super) fn agents(definition: &AgentDefinition) -> Vec<Agent> {
    (0..AGENTS).map(|_| definition.agent()).collect()
}

/// Has all of them answer at once, each in a task that reads its events.
pub(super) fn answer_all(agents: Vec<Agent>) -> Result<(), Error> {
    Builder::new_current_thread().enable_time().build()?.block_on(async {
        let mut tasks = JoinSet::new();
        for agent in agents {
            tasks.spawn(async move {
                let mut events = agent.into_stream("hi");
                while let Some(event) = events.next().await {
                    black_box(&event);
                }
                events.finish().await.1.map(drop)
            });
        }
        while let Some(result) = tasks.join_next().await {
            result??;
        }
        Ok(())
    })
}

pub(super) fn measure() -> Result<Vec<Figure>, Error> {
    let definition = definition(Arc::new(|| ()))?;
    let unit = US * AGENTS as f64;
    Ok(vec![timed("us_per_reply", Some(25.0), unit, TIMES, || Ok(agents(&definition)), answer_all)?])
}
