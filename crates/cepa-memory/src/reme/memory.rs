//! Asking ReMe: what the layer and its tool share.

use std::{sync::Arc, time::Duration};

use cepa_core::{Id, Msg};
use serde_json::{Map, Value, json};

use super::{AUTO_MEMORY, JobAnswer, ReMe, ReMeError, SEARCH};
use crate::{ServerError, limits::Limits, troubles::Troubles};

#[derive(Debug)]
pub(super) struct Memory {
    pub(super) client: Arc<dyn ReMe>,
    pub(super) top_k: usize,
    pub(super) search_deadline: Duration,
    pub(super) write_deadline: Duration,
    pub(super) limits: Limits,
    pub(super) troubles: Troubles,
}

impl Memory {
    /// What is remembered of this, at most so much. A failure is logged.
    pub(super) async fn search(&self, query: String, limit: usize) -> Result<Vec<String>, ReMeError> {
        let result = self.find(self.limits.query(query), limit).await;
        self.troubles.log(
            SEARCH,
            "the memory is not searched",
            result.as_ref().err().map(ReMeError::failure),
        );
        result
    }

    async fn find(&self, query: String, limit: usize) -> Result<Vec<String>, ReMeError> {
        let arguments = Map::from_iter([
            ("query".to_owned(), Value::from(query)),
            ("limit".to_owned(), Value::from(limit)),
        ]);
        let answer = self.run(SEARCH, arguments, self.search_deadline).await?;
        let Some(Value::Array(results)) = answer.metadata.get("results") else {
            let reason = "`search` has no list of results".to_owned();
            return Err(ServerError::Nonsense { service: "ReMe", reason }.into());
        };
        Ok(results.iter().filter_map(text).take(limit).collect())
    }

    /// Remembers a turn. A failure is logged.
    pub(super) async fn write(&self, messages: &[Arc<Msg>], session_id: &Id) {
        let arguments = Map::from_iter([
            ("messages".to_owned(), json!(messages)),
            ("session_id".to_owned(), json!(session_id)),
        ]);
        let result = self.run(AUTO_MEMORY, arguments, self.write_deadline).await;
        self.troubles.log(
            AUTO_MEMORY,
            "a turn is not remembered",
            result.as_ref().err().map(ReMeError::failure),
        );
    }

    async fn run(
        &self,
        job: &str,
        arguments: Map<String, Value>,
        limit: Duration,
    ) -> Result<JobAnswer, ReMeError> {
        let run = self.client.run(job, arguments);
        tokio::time::timeout(limit, run)
            .await
            .unwrap_or_else(|_| Err(ReMeError::Deadline { job: job.to_owned(), limit }))
    }

    /// Whether these jobs are there.
    pub(super) async fn check(&self, needed: &[&str]) -> Result<(), ReMeError> {
        let limit = self.search_deadline;
        let jobs = tokio::time::timeout(limit, self.client.jobs())
            .await
            .unwrap_or_else(|_| Err(ServerError::Deadline { service: "ReMe", limit }.into()))?;
        match needed.iter().find(|needed| !jobs.iter().any(|job| job == *needed)) {
            Some(missing) => Err(ReMeError::NoSuchJob { job: (*missing).to_owned() }),
            None => Ok(()),
        }
    }
}

/// The text of a result: it is one, or has one (AgentScope 2.0.11 takes all of these).
fn text(result: &Value) -> Option<String> {
    let texts = ["text", "memory", "content"].into_iter().filter_map(|key| result[key].as_str());
    let text = result.as_str().or_else(|| texts.into_iter().find(|text| !text.is_empty()))?;
    Some(text.to_owned())
}
