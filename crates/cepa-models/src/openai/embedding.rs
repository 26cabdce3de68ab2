//! The embedding model.

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use cepa_core::{BoxFuture, ErrorType, ModelError, Result};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};

use super::{OpenAiEmbeddingBuilder, usage::WireUsage};
use crate::{
    ConfigError, EmbeddingModel, Embeddings,
    endpoint::{Endpoint, ServerError},
};

/// An embedding model over any OpenAI-compatible API.
///
/// ```no_run
/// use cepa_models::{EmbeddingModel, OpenAiEmbedding};
///
/// # async fn run() -> cepa_core::Result<()> {
/// let model = OpenAiEmbedding::from_env("text-embedding-3-small")?;
/// let embeddings = model.embed(&["an onion".into(), "a leek".into()]).await?;
/// assert_eq!(embeddings.vectors.len(), 2);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct OpenAiEmbedding {
    pub(super) model: Arc<str>,
    pub(super) endpoint: Endpoint,
    pub(super) dimensions: Option<usize>,
    pub(super) send_dimensions: bool,
    pub(super) batch_size: usize,
    pub(super) batch_bytes: usize,
    pub(super) concurrency: usize,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Entry>,
    #[serde(default)]
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl OpenAiEmbedding {
    /// A builder for the model that the server knows by this name.
    pub fn builder(model: impl Into<Arc<str>>) -> OpenAiEmbeddingBuilder {
        OpenAiEmbeddingBuilder::new(model.into())
    }

    /// This model with the key in `OPENAI_API_KEY`, at `OPENAI_BASE_URL` if that is set, else at OpenAI.
    ///
    /// # Errors
    /// When there is no key and OpenAI itself is asked, or when what is set cannot be used.
    pub fn from_env(model: impl Into<Arc<str>>) -> Result<Self, ConfigError> {
        Self::builder(model).or_env().build()
    }

    async fn all(&self, texts: &[String]) -> Result<Embeddings, ModelError> {
        let batches: Vec<_> = self.batches(texts).into_iter().map(|batch| self.batch(batch)).collect();
        let mut answers = stream::iter(batches).buffered(self.concurrency);
        let mut all = Embeddings::new(Vec::with_capacity(texts.len()));
        while let Some(mut answer) = answers.try_next().await? {
            self.check_lengths(all.vectors.first(), &answer.vectors)?;
            all.vectors.append(&mut answer.vectors);
            all.tokens = match (all.tokens, answer.tokens) {
                (Some(sum), Some(tokens)) => Some(sum + tokens),
                (sum, tokens) => sum.or(tokens),
            };
        }
        Ok(all)
    }

    /// The texts in batches that are neither too many nor too long.
    fn batches<'a>(&self, texts: &'a [String]) -> Vec<&'a [String]> {
        let (mut batches, mut start, mut bytes) = (Vec::new(), 0, 0);
        for (position, text) in texts.iter().enumerate() {
            if position > start
                && (position - start == self.batch_size || bytes + text.len() > self.batch_bytes)
            {
                batches.push(&texts[start..position]);
                (start, bytes) = (position, 0);
            }
            bytes += text.len();
        }
        if start < texts.len() {
            batches.push(&texts[start..]);
        }
        batches
    }

    async fn batch(&self, texts: &[String]) -> Result<Embeddings, ModelError> {
        // Servers refuse the whole batch for one empty text.
        let input = texts.iter().map(|text| if text.is_empty() { " " } else { text }).collect();
        let dimensions = self.dimensions.filter(|_| self.send_dimensions);
        let body = serde_json::to_vec(&Body { model: &self.model, input, dimensions })
            .map_err(|error| self.endpoint.error(ErrorType::Internal, error))?;
        let body = Bytes::from(body);
        let (mut patience, mut retries) = (self.endpoint.patience(), self.endpoint.retries());
        loop {
            let answer = async {
                let mut response = self.endpoint.post(body.clone(), &mut patience).await?;
                self.endpoint.body(&mut response, &mut patience).await
            };
            match answer.await.and_then(|answer| self.read(&answer, texts.len())) {
                Ok(embeddings) => return Ok(embeddings),
                Err(error) => retries.wait(error, &mut patience).await?,
            }
        }
    }

    fn read(&self, body: &[u8], expected: usize) -> Result<Embeddings, ModelError> {
        let Ok(answer) = serde_json::from_slice::<Answer>(body) else {
            let error = serde_json::from_slice(body).ok().and_then(|json| ServerError::from_json(&json));
            return Err(match error {
                Some(error) => self.endpoint.failed(&error),
                None => self.endpoint.garbage("the server's answer holds no embeddings", body),
            });
        };
        let count = answer.data.len();
        let mut vectors = vec![Vec::new(); expected];
        for (position, entry) in answer.data.into_iter().enumerate() {
            if let Some(place) = vectors.get_mut(entry.index.unwrap_or(position)) {
                *place = entry.embedding;
            }
        }
        if count != expected || vectors.iter().any(Vec::is_empty) {
            return Err(self.wrong(format!("the server answered {count} texts of {expected} with a vector")));
        }
        Ok(Embeddings::new(vectors).with_tokens(answer.usage.and_then(|usage| usage.embedding())))
    }

    fn check_lengths(&self, first: Option<&Vec<f32>>, vectors: &[Vec<f32>]) -> Result<(), ModelError> {
        let Some(expected) = self.dimensions.or(first.or(vectors.first()).map(Vec::len)) else {
            return Ok(());
        };
        match vectors.iter().find(|vector| vector.len() != expected) {
            Some(other) => {
                Err(self
                    .wrong(format!("the server sent a vector of {} numbers, not {expected}", other.len())))
            }
            None => Ok(()),
        }
    }

    fn wrong(&self, what: impl Into<Cow<'static, str>>) -> ModelError {
        let mut error = self.endpoint.error(ErrorType::Upstream, what.into());
        error.retryable = false;
        error
    }
}

impl EmbeddingModel for OpenAiEmbedding {
    fn name(&self) -> &str {
        &self.model
    }

    fn dimensions(&self) -> Option<usize> {
        self.dimensions
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Embeddings>> {
        Box::pin(async move { Ok(self.all(texts).await?) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_neither_too_many_texts_nor_too_long() {
        let model = OpenAiEmbedding::builder("m")
            .base_url("http://127.0.0.1:9")
            .batch_size(3)
            .batch_bytes(10)
            .build()
            .unwrap();
        let sizes = |lengths: &[usize]| {
            let texts: Vec<_> = lengths.iter().map(|length| "x".repeat(*length)).collect();
            model.batches(&texts).iter().map(|batch| batch.len()).collect::<Vec<_>>()
        };
        assert!(sizes(&[]).is_empty());
        assert_eq!(sizes(&[1; 7]), [3, 3, 1]);
        assert_eq!(sizes(&[5, 5, 5]), [2, 1]);
        assert_eq!(sizes(&[50, 50, 1]), [1, 1, 1]);
    }
}
