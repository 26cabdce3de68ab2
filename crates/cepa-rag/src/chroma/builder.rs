//! [`ChromaStoreBuilder`].

use std::time::Duration;

use cepa_http::{AUTHORIZATION, HeaderName, Http};
use secrecy::SecretString;

use super::{ChromaStore, STORE};
use crate::{RagError, remote::failure};

/// Sets a [`ChromaStore`] up.
#[must_use = "nothing is built until `build()`"]
#[derive(Clone, Debug)]
pub struct ChromaStoreBuilder {
    url: String,
    tenant: String,
    database: String,
    api_key: Option<SecretString>,
    bearer_token: Option<SecretString>,
    deadline: Duration,
    batch: usize,
}

impl ChromaStoreBuilder {
    pub(super) fn new(url: String) -> Self {
        Self {
            url,
            tenant: "default_tenant".to_owned(),
            database: "default_database".to_owned(),
            api_key: None,
            bearer_token: None,
            deadline: Duration::from_secs(60),
            batch: 300,
        }
    }

    /// The tenant; `default_tenant` by default.
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = tenant.into();
        self
    }

    /// The database; `default_database` by default.
    pub fn database(mut self, database: impl Into<String>) -> Self {
        self.database = database.into();
        self
    }

    /// The key, sent as `X-Chroma-Token`; Chroma Cloud asks for it.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(key.into().into());
        self
    }

    /// A token for what guards the server, sent as `Authorization: Bearer`.
    pub fn bearer_token(mut self, token: impl Into<String>) -> Self {
        self.bearer_token = Some(token.into().into());
        self
    }

    /// How long each call may take; 60 s by default.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// The most chunks of one call; 300 by default. A server that takes fewer at once gets fewer.
    pub fn batch_size(mut self, records: usize) -> Self {
        self.batch = records;
        self
    }

    /// Checks the settings. Nothing is sent yet.
    ///
    /// # Errors
    /// [`RagError::Settings`]: a URL, a name, a key or a limit that cannot be.
    pub fn build(self) -> Result<ChromaStore, RagError> {
        for (what, name) in [("tenant", &self.tenant), ("database", &self.database)] {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
            if name.is_empty() || !name.bytes().all(fits) {
                return Err(RagError::Settings(format!(
                    "`{name}` is no name of a {what}: take letters, digits, `_` and `-`"
                )));
            }
        }
        if self.batch == 0 {
            return Err(RagError::Settings("the batches of Chroma have no records: allow some".to_owned()));
        }
        if self.api_key.is_some() && self.bearer_token.is_some() {
            return Err(RagError::Settings(
                "give Chroma an `api_key` or a `bearer_token`, not both".to_owned(),
            ));
        }
        let wrong = |error| failure(STORE.0, error);
        let mut http = Http::new("Chroma", &self.url, self.deadline).map_err(wrong)?;
        if let Some(key) = self.api_key {
            http = http.sign_in(HeaderName::from_static("x-chroma-token"), "", key).map_err(wrong)?;
        }
        if let Some(token) = self.bearer_token {
            http = http.sign_in(AUTHORIZATION, "Bearer ", token).map_err(wrong)?;
        }
        let root = format!("api/v2/tenants/{}/databases/{}/collections", self.tenant, self.database);
        let (ids, most) = Default::default();
        Ok(ChromaStore { http, root, batch: self.batch, ids, most })
    }
}
