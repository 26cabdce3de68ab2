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
    cluster: Vec<(&'static str, u32)>,
}

impl QdrantStoreBuilder {
    pub(super) fn new(url: String) -> Self {
        Self {
            url,
            api_key: None,
            deadline: Duration::from_secs(60),
            batch: 500,
            exact: false,
            cluster: Vec::new(),
        }
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

    /// How many parts a collection is made of, in a cluster; Qdrant's default is one per node. Collections that are there
    /// stay as they are, here and below.
    pub fn shard_number(mut self, shards: u32) -> Self {
        self.cluster.push(("shard_number", shards));
        self
    }

    /// On how many nodes each part of a collection is, in a cluster; Qdrant's default is one: a node that is lost takes its
    /// chunks with it.
    pub fn replication_factor(mut self, copies: u32) -> Self {
        self.cluster.push(("replication_factor", copies));
        self
    }

    /// How many of the copies must have what is written before it counts as kept, in a cluster; Qdrant's default is one.
    pub fn write_consistency_factor(mut self, copies: u32) -> Self {
        self.cluster.push(("write_consistency_factor", copies));
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
        if let Some((setting, _)) = self.cluster.iter().find(|(_, number)| *number == 0) {
            return Err(RagError::Settings(format!("`{setting}` of Qdrant is 0: it must be at least 1")));
        }
        let wrong = |error| failure(STORE.0, error);
        let mut http = Http::new("Qdrant", &self.url, self.deadline).map_err(wrong)?;
        if let Some(key) = self.api_key {
            http = http.sign_in(HeaderName::from_static("api-key"), "", key).map_err(wrong)?;
        }
        Ok(QdrantStore { http, batch: self.batch, exact: self.exact, cluster: self.cluster })
    }
}
