//! Searching several retrievers for one query, and putting what they found in one order.

use std::{fmt, sync::Arc, time::Duration};

use cepa_core::OutputBlock;
use futures_util::future::join_all;

use crate::{
    Hit, RagError, Retriever, SearchOptions,
    asker::{Asker, Trouble},
    fusion::{Found, fuse},
    rerank::Reranking,
};

/// Retrievers, and how they are searched.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) retrievers: Vec<Arc<dyn Retriever>>,
    /// What each is asked for.
    pub(crate) options: SearchOptions,
    pub(crate) deadline: Duration,
    /// How many hits are wanted in the end.
    pub(crate) top_k: usize,
    pub(crate) reranking: Option<Reranking>,
}

/// What a search came to.
pub(crate) struct Outcome {
    pub(crate) hits: Vec<Hit>,
    /// Why some retriever was not searched, each reason once.
    pub(crate) failures: Vec<String>,
}

/// Why a retriever was not searched.
enum Failure {
    Failed(RagError),
    TooLate(Duration),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => error.fmt(f),
            Self::TooLate(limit) => write!(f, "there was no answer within {limit:?}"),
        }
    }
}

impl Search {
    /// Searches the retrievers that `wanted` names, all at once. One that fails, or takes too long, loses its own hits
    /// only.
    pub(crate) async fn run(
        &self,
        asker: Asker<'_>,
        queries: &[OutputBlock],
        wanted: impl Fn(&str) -> bool,
    ) -> Outcome {
        let wanted: Vec<_> = self.retrievers.iter().filter(|retriever| wanted(retriever.name())).collect();
        let answers = join_all(wanted.iter().map(|retriever| self.ask(retriever, queries))).await;
        let (mut found, mut failures) = (Vec::new(), Vec::new());
        for (retriever, answer) in wanted.into_iter().zip(answers) {
            let failure = match answer {
                Ok(hits) => {
                    found.push(Found { scale: retriever.scale().map(str::to_owned), hits });
                    continue;
                }
                Err(failure) => failure.to_string(),
            };
            let name = retriever.name();
            if asker.is_news(Trouble::Base(name.to_owned())) {
                tracing::warn!(knowledge_base = name, error = failure, "a knowledge base is not searched");
            } else {
                tracing::debug!(knowledge_base = name, error = failure, "a knowledge base is not searched");
            }
            if !failures.contains(&failure) {
                failures.push(failure);
            }
        }
        let mut hits = fuse(found, self.options.top_k);
        if let Some(reranking) = &self.reranking {
            hits = reranking.order(asker, queries, hits, self.top_k).await;
        }
        hits.truncate(self.top_k);
        Outcome { hits, failures }
    }

    async fn ask(
        &self,
        retriever: &Arc<dyn Retriever>,
        queries: &[OutputBlock],
    ) -> Result<Vec<Hit>, Failure> {
        let search = retriever.search(queries, &self.options);
        match tokio::time::timeout(self.deadline, search).await {
            Ok(answer) => {
                let mut hits = answer.map_err(Failure::Failed)?;
                hits.truncate(self.options.top_k);
                Ok(hits)
            }
            Err(_) => Err(Failure::TooLate(self.deadline)),
        }
    }
}
