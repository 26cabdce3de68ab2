//! What the layer and its tools share: a backend, whose memories, limits.

use std::time::Duration;

use cepa_core::BoxError;
use tokio::time::timeout;

use super::{
    backend::{Mem0, Mem0Add, Mem0Added, Mem0Message, Mem0Search},
    scope::MemoryScope,
};
use crate::{
    ServerError,
    troubles::{Failure, Troubles},
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
    pub(super) troubles: Troubles,
}

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

    /// Logs how something went: a failure once, whatever of the service failed.
    pub(super) fn log(&self, what: &'static str, so: &str, error: Option<&BoxError>) {
        let failure = error.map(|error| Failure { error, is_of_the_service: true });
        self.troubles.log(what, so, failure);
    }

    /// The texts of memories that fit, each once, the best first.
    pub(super) async fn search(
        &self,
        scope: &MemoryScope,
        query: String,
        top_k: usize,
    ) -> Result<Vec<String>, BoxError> {
        let search = Mem0Search {
            query,
            user_id: scope.user_id.clone(),
            agent_id: scope.agent_id.clone().filter(|_| self.scope_search_by_agent),
            top_k,
            threshold: self.threshold,
        };
        let found = within(self.search_deadline, self.client.search(search)).await?;
        Ok(unique(found.into_iter().map(|found| found.memory)))
    }

    /// Writes messages.
    pub(super) async fn add(
        &self,
        scope: MemoryScope,
        messages: Vec<Mem0Message>,
        infer: bool,
    ) -> Result<Mem0Added, BoxError> {
        let add = Mem0Add { messages, user_id: scope.user_id, agent_id: scope.agent_id, infer };
        within(self.write_deadline, self.client.add(add)).await
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
