//! Reranking over HTTP.

mod builder;

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use cepa_core::{BoxFuture, ErrorType, ModelError, Result};
use serde::{Deserialize, Serialize};

pub use self::builder::HttpRerankBuilder;
use crate::{
    ConfigError, Ranked, RerankModel,
    endpoint::{Endpoint, ServerError},
};

/// A model behind a rerank endpoint (`POST …/rerank`), as Jina, Cohere (`https://api.cohere.com/v2`), vLLM, llama.cpp,
/// Infinity and others have it.
///
/// ```no_run
/// use cepa_models::{HttpRerank, RerankModel};
///
/// # async fn run() -> cepa_core::Result<()> {
/// let model = HttpRerank::from_env("jina-reranker-v2-base-multilingual")?;
/// let ranked = model.rerank("What is an onion?", &["A leek.".into(), "Allium cepa.".into()], 1).await?;
/// assert_eq!(ranked.len(), 1);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct HttpRerank {
    model: Arc<str>,
    endpoint: Endpoint,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    query: &'a str,
    documents: &'a [String],
    top_n: usize,
}

#[derive(Deserialize)]
struct Answer {
    results: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    index: usize,
    relevance_score: f64,
}

impl HttpRerank {
    /// A builder for the model that the server knows by this name.
    pub fn builder(model: impl Into<Arc<str>>) -> HttpRerankBuilder {
        HttpRerankBuilder::new(model.into())
    }

    /// This model with the key in `JINA_API_KEY`, at `JINA_BASE_URL` if that is set, else at Jina.
    ///
    /// # Errors
    /// When there is no key and Jina itself is asked, or when what is set cannot be used.
    pub fn from_env(model: impl Into<Arc<str>>) -> Result<Self, ConfigError> {
        Self::builder(model).or_env().build()
    }

    async fn ask(&self, query: &str, documents: &[String], top_n: usize) -> Result<Vec<Ranked>, ModelError> {
        let top_n = top_n.min(documents.len());
        if top_n == 0 {
            return Ok(Vec::new());
        }
        let body = serde_json::to_vec(&Body { model: &self.model, query, documents, top_n })
            .map_err(|error| self.endpoint.error(ErrorType::Internal, error))?;
        let body = Bytes::from(body);
        let (mut patience, mut retries) = (self.endpoint.patience(), self.endpoint.retries());
        loop {
            let answer = async {
                let mut response = self.endpoint.post(body.clone(), &mut patience).await?;
                self.endpoint.body(&mut response, &mut patience).await
            };
            match answer.await.and_then(|answer| self.read(&answer, documents.len())) {
                Ok(mut ranked) => {
                    ranked.truncate(top_n);
                    return Ok(ranked);
                }
                Err(error) => retries.wait(error, &mut patience).await?,
            }
        }
    }

    fn read(&self, body: &[u8], documents: usize) -> Result<Vec<Ranked>, ModelError> {
        let Ok(answer) = serde_json::from_slice::<Answer>(body) else {
            let error = serde_json::from_slice(body).ok().and_then(|json| ServerError::from_json(&json));
            return Err(match error {
                Some(error) => self.endpoint.failed(&error),
                None => self.endpoint.garbage("the server's answer holds no ranking", body),
            });
        };
        let mut known = vec![false; documents];
        for Entry { index, .. } in &answer.results {
            match known.get_mut(*index) {
                None => {
                    return Err(self.wrong(format!("the server ranked document {index} of {documents}")));
                }
                Some(true) => return Err(self.wrong(format!("the server ranked document {index} twice"))),
                Some(known) => *known = true,
            }
        }
        let mut ranked: Vec<_> =
            answer.results.iter().map(|entry| Ranked::new(entry.index, entry.relevance_score)).collect();
        // Not every server sorts.
        ranked.sort_by(|a, b| b.relevance_score.total_cmp(&a.relevance_score));
        Ok(ranked)
    }

    fn wrong(&self, what: impl Into<Cow<'static, str>>) -> ModelError {
        let mut error = self.endpoint.error(ErrorType::Upstream, what.into());
        error.retryable = false;
        error
    }
}

impl RerankModel for HttpRerank {
    fn name(&self) -> &str {
        &self.model
    }

    fn rerank<'a>(
        &'a self,
        query: &'a str,
        documents: &'a [String],
        top_n: usize,
    ) -> BoxFuture<'a, Result<Vec<Ranked>>> {
        Box::pin(async move { Ok(self.ask(query, documents, top_n).await?) })
    }
}
