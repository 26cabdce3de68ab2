//! What the layer and its tools share: a backend, whose memories, limits.

use std::{sync::Arc, time::Duration};

use cepa_core::{BoxError, Id, Scratch};
use futures_util::future::join_all;
use tokio::{sync::oneshot, time::timeout};

use super::{
    backend::{Mem0, Mem0Add, Mem0Added, Mem0Message, Mem0Search},
    scope::MemoryScope,
};
use crate::{
    ServerError,
    limits::Limits,
    troubles::{Failure, Kind, Troubles},
    writes::{Origin, Writes},
};

/// No one is named whose memories these are.
#[derive(Debug, thiserror::Error)]
#[error(
    "it is not said whose memories these are: give the reply a `MemoryScope` with ids that are not blank, or the layer a \
     `user_id`"
)]
pub(super) struct NoScope;

/// The backend with its settings.
pub(super) struct Memory {
    pub(super) client: Box<dyn Mem0>,
    pub(super) user_id: Option<String>,
    pub(super) agent_id: Option<String>,
    pub(super) scope_search_by_agent: bool,
    pub(super) top_k: usize,
    pub(super) threshold: Option<f64>,
    pub(super) search_deadline: Duration,
    pub(super) write_deadline: Duration,
    pub(super) tool_deadline: Duration,
    pub(super) limits: Limits,
    pub(super) troubles: Troubles,
    pub(super) writes: Writes,
}

/// What is to be written, and how.
pub(super) struct Note {
    pub(super) messages: Vec<Mem0Message>,
    pub(super) infer: bool,
    /// Whether it is kept as it is where mem0's model finds nothing worth it.
    pub(super) anyway: bool,
}

/// What several searches have found together.
pub(super) struct Found {
    /// The texts, each once, the best first.
    pub(super) memories: Vec<String>,
    /// Why not all that was searched for was.
    pub(super) error: Option<BoxError>,
}

/// Whose memories a reply works with, for each layer of this kind in it.
#[derive(Default)]
struct Scopes(Vec<(usize, MemoryScope)>);

impl Memory {
    /// Whose memories: as the reply says, else as the layer was set up.
    pub(super) fn scope(&self, given: Option<&MemoryScope>) -> Result<MemoryScope, NoScope> {
        let mut scope = match (given, &self.user_id) {
            (Some(given), _) => given.clone(),
            (None, Some(user_id)) => MemoryScope::user(user_id),
            (None, None) => return Err(NoScope),
        };
        scope.agent_id = scope.agent_id.or_else(|| self.agent_id.clone());
        if scope.is_blank() { Err(NoScope) } else { Ok(scope) }
    }

    /// Notes whose memories the tools work with during this reply.
    pub(super) fn enter(&self, scratch: &Scratch, scope: MemoryScope) {
        let layer = self.id();
        scratch.update(|Scopes(scopes)| {
            scopes.retain(|(id, _)| *id != layer);
            scopes.push((layer, scope));
        });
    }

    /// As it was noted.
    pub(super) fn entered(&self, scratch: &Scratch) -> Option<MemoryScope> {
        let layer = self.id();
        let of_layer = |(id, scope): &(usize, MemoryScope)| (*id == layer).then(|| scope.clone());
        scratch.update(|Scopes(scopes)| scopes.iter().find_map(of_layer))
    }

    /// What tells this layer from another one of its kind in the same agent.
    fn id(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Finds memories for each of these, side by side. Failures are logged.
    ///
    /// # Errors
    /// Nothing could be searched for.
    pub(super) async fn search(
        &self,
        scope: &MemoryScope,
        queries: Vec<String>,
        top_k: usize,
    ) -> Result<Found, BoxError> {
        let searches = queries.into_iter().map(|query| {
            let search = Mem0Search {
                query: self.limits.query(query),
                user_id: scope.user_id.clone(),
                agent_id: scope.agent_id.clone().filter(|_| self.scope_search_by_agent),
                top_k,
                threshold: self.threshold,
            };
            within(self.search_deadline, self.client.search(search))
        });
        let (mut memories, mut error, mut is_searched) = (Vec::new(), None, false);
        for result in join_all(searches).await {
            match result {
                Ok(found) => {
                    is_searched = true;
                    memories.extend(found.into_iter().map(|found| found.memory));
                }
                Err(failure) => error = error.or(Some(failure)),
            }
        }
        self.log("search", "memories are not searched", error.as_ref());
        match error {
            Some(error) if !is_searched => Err(error),
            error => Ok(Found { memories: unique(memories), error }),
        }
    }

    /// Writes in the background, in turn with what else is written for this user and agent. What becomes of it is logged,
    /// and sent to whoever waits; nothing is where the write is dropped.
    pub(super) fn write(
        self: &Arc<Self>,
        scope: MemoryScope,
        session: Option<Id>,
        note: Note,
    ) -> oneshot::Receiver<Result<Mem0Added, BoxError>> {
        let (outcome, written) = oneshot::channel();
        let lane = format!("{:?}", (&scope.user_id, &scope.agent_id));
        let origin = Origin { session, user: Some(scope.user_id.clone()) };
        let memory = self.clone();
        let write = async move {
            // Nobody has to wait.
            _ = outcome.send(memory.add(scope, note).await);
        };
        self.writes.push(lane, origin, Box::pin(write));
        written
    }

    async fn add(&self, scope: MemoryScope, note: Note) -> Result<Mem0Added, BoxError> {
        let Note { messages, infer, anyway } = note;
        let add = |messages, infer| {
            let MemoryScope { user_id, agent_id } = scope.clone();
            within(self.write_deadline, self.client.add(Mem0Add { messages, user_id, agent_id, infer }))
        };
        let added = match add(messages.clone(), infer).await {
            Ok(Mem0Added::Nothing) if anyway => add(messages, false).await,
            added => added,
        };
        self.log("write", "something is not written", added.as_ref().err());
        if let Ok(added) = &added {
            tracing::debug!(?added, "it is written to mem0");
        }
        added
    }

    fn log(&self, what: &'static str, so: &str, error: Option<&BoxError>) {
        let failure = error.map(|error| {
            let kind = error.downcast_ref::<ServerError>().map_or(Kind::Own, Kind::from);
            Failure { error, kind }
        });
        self.troubles.log(what, so, failure);
    }
}

/// The texts that say something, each once, in their order.
pub(super) fn unique(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut known: Vec<String> = Vec::new();
    for text in texts {
        if !text.trim().is_empty() && !known.contains(&text) {
            known.push(text);
        }
    }
    known
}

async fn within<T>(limit: Duration, call: impl Future<Output = Result<T, BoxError>>) -> Result<T, BoxError> {
    match timeout(limit, call).await {
        Ok(result) => result,
        Err(_) => Err(ServerError::Deadline { service: "mem0", limit }.into()),
    }
}
