//! [`QdrantStoreBuilder`].

use std::time::Duration;

use cepa_http::{HeaderName, Http};
use secrecy::SecretString;

use super::{QdrantStore, STORE};
use crate::{RagError, remote::failure};

/// Sets a [`QdrantStore`] up.
#[must_use = "nothing is built until `build()`"]
#[derive(Clone, Debug)]
pub struct QdrantStoreBuilder {
    url: String,
    api_key: Option<SecretString>,
    deadline: Duration,
    batch: usize,
    exact: bool,
}

impl QdrantStoreBuilder {
    pub(super) fn new(url: String) -> Self {
        Self { url, api_key: None, deadline: Duration::from_secs(60), batch: 500, exact: false }
    }

    /// The key, sent as `api-key`.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(key.into().into());
        self
    }

    /// How long each call may take; 60 s by default.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// The most chunks of one call; 500 by default.
    pub fn batch_size(mut self, records: usize) -> Self {
        self.batch = records;
        self
    }

    /// Whether searches look at every vector. By default they use Qdrant's index where it has one.
    pub fn exact(mut self, exact: bool) -> Self {
        self.exact = exact;
        self
    }

    /// Checks the settings. Nothing is sent yet.
    ///
    /// # Errors
    /// [`RagError::Settings`]: a URL, a key or a limit that cannot be.
    pub fn build(self) -> Result<QdrantStore, RagError> {
        if self.batch == 0 {
            return Err(RagError::Settings("the batches of Qdrant have no points: allow some".to_owned()));
        }
        let wrong = |error| failure(STORE.0, error);
        let mut http = Http::new("Qdrant", &self.url, self.deadline).map_err(wrong)?;
        if let Some(key) = self.api_key {
            http = http.sign_in(HeaderName::from_static("api-key"), "", key).map_err(wrong)?;
        }
        Ok(QdrantStore { http, batch: self.batch, exact: self.exact })
    }
}
