//! Setting up an embedding model.

use std::sync::Arc;

use super::OpenAiEmbedding;
use crate::{
    ConfigError,
    endpoint::{Settings, connection_setters},
};

/// Sets up an [`OpenAiEmbedding`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `.build()`"]
pub struct OpenAiEmbeddingBuilder {
    model: Arc<str>,
    connection: Settings,
    dimensions: Option<usize>,
    send_dimensions: bool,
    batch_size: usize,
    batch_bytes: usize,
    concurrency: usize,
}

impl OpenAiEmbeddingBuilder {
    pub(super) fn new(model: Arc<str>) -> Self {
        Self {
            model,
            connection: Settings::default(),
            dimensions: None,
            send_dimensions: false,
            batch_size: 100,
            batch_bytes: 256 << 10,
            concurrency: 2,
        }
    }

    connection_setters!();

    /// How many numbers the model's vectors have: an answer with another number is an error.
    pub fn dimensions(mut self, dimensions: usize) -> Self {
        self.dimensions = Some(dimensions);
        self
    }

    /// Asks the server for vectors of this length (`dimensions`), which not every model can give.
    pub fn request_dimensions(mut self, dimensions: usize) -> Self {
        self.send_dimensions = true;
        self.dimensions(dimensions)
    }

    /// The most texts of one request. 100 by default; DashScope takes 10.
    pub fn batch_size(mut self, texts: usize) -> Self {
        self.batch_size = texts;
        self
    }

    /// The most bytes of text in one request; a longer text goes alone. 256 KiB by default.
    pub fn batch_bytes(mut self, bytes: usize) -> Self {
        self.batch_bytes = bytes;
        self
    }

    /// How many requests run at once. 2 by default.
    pub fn concurrency(mut self, requests: usize) -> Self {
        self.concurrency = requests;
        self
    }

    /// Checks the settings and makes the model. Nothing is sent.
    ///
    /// # Errors
    /// What is wrong with the settings.
    pub fn build(self) -> Result<OpenAiEmbedding, ConfigError> {
        let counts = [
            ("dimensions", self.dimensions.unwrap_or(1)),
            ("batch_size", self.batch_size),
            ("batch_bytes", self.batch_bytes),
            ("concurrency", self.concurrency),
        ];
        if let Some((setting, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(ConfigError::OutOfRange { setting, reason: "must be at least 1" });
        }
        Ok(OpenAiEmbedding {
            endpoint: self.connection.endpoint("embeddings", &self.model)?,
            model: self.model,
            dimensions: self.dimensions,
            send_dimensions: self.send_dimensions,
            batch_size: self.batch_size,
            batch_bytes: self.batch_bytes,
            concurrency: self.concurrency,
        })
    }
}
