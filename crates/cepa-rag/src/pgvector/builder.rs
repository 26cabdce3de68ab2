//! [`PgVectorStoreBuilder`].

use std::{fmt, str::FromStr, time::Duration};

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts};
use tokio_postgres::Config;

use super::{PgVectorStore, innermost, tls};
use crate::RagError;

/// Sets a [`PgVectorStore`] up.
#[must_use = "nothing is built until `build()`"]
#[derive(Clone)]
pub struct PgVectorStoreBuilder {
    url: String,
    password: Option<String>,
    schema: String,
    connections: usize,
    deadline: Duration,
    batch: usize,
    hnsw: bool,
}

impl PgVectorStoreBuilder {
    pub(super) fn new(url: String) -> Self {
        Self {
            url,
            password: None,
            schema: "cepa".to_owned(),
            connections: 8,
            deadline: Duration::from_secs(60),
            batch: 500,
            hnsw: false,
        }
    }

    /// The password, where the URL should not hold it.
    pub fn password(mut self, password: impl Into<String>) -> Self {
        self.password = Some(password.into());
        self
    }

    /// The schema of the tables; `cepa` by default. It is made if it is not there.
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = schema.into();
        self
    }

    /// The most connections; 8 by default. Whoever finds none free waits for one.
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections;
        self
    }

    /// How long each statement may take, with the wait for a connection; 60 s by default. The database gives up after
    /// it as well.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// The most chunks of one `INSERT`, which keeps all of them or none; 500 by default.
    pub fn batch_size(mut self, records: usize) -> Self {
        self.batch = records;
        self
    }

    /// Whether vectors get an HNSW index, for at most 2000 dimensions. By default they do not, and all searches are
    /// exact. With it, searches without a filter are approximate, and do not find vectors of length 0.
    pub fn hnsw(mut self, hnsw: bool) -> Self {
        self.hnsw = hnsw;
        self
    }

    /// Checks the settings. Nothing is sent yet.
    ///
    /// # Errors
    /// [`RagError::Settings`]: a URL that is none, a name that no schema should have, a limit of 0; or no TLS where the
    /// URL asks for it.
    pub fn build(self) -> Result<PgVectorStore, RagError> {
        let settings = |reason: String| RagError::Settings(reason);
        let mut config = Config::from_str(self.url.trim()).map_err(|error| {
            settings(format!(
                "this is no address of a PostgreSQL database ({}): write it as `postgres://user@host/database`",
                innermost(&error)
            ))
        })?;
        let letters = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let wrong = if !(1..=63).contains(&self.schema.len()) || !self.schema.bytes().all(letters) {
            "the schema's name has other characters than letters, digits and `_`, or none, or more than 63"
        } else if self.schema.to_ascii_lowercase().starts_with("pg_") {
            "PostgreSQL keeps names that begin with `pg_` for itself: take another schema"
        } else if self.connections == 0 || self.batch == 0 {
            "the limits of connections and batches must be 1 or more"
        } else if self.deadline.is_zero() {
            "the deadline of pgvector is 0: give it some time"
        } else {
            ""
        };
        if !wrong.is_empty() {
            return Err(settings(wrong.to_owned()));
        }
        if let Some(password) = self.password {
            config.password(password);
        }
        let milliseconds = self.deadline.as_millis().clamp(1, i32::MAX as u128);
        let options = config.get_options().map(|options| format!("{options} ")).unwrap_or_default();
        config.options(format!("{options}-c statement_timeout={milliseconds}"));
        config.connect_timeout(self.deadline);
        // Whether a connection still answers is seen before it is used again.
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Verified };
        let manager = match tls::connector(&config)? {
            Some(tls) => Manager::from_config(config, tls, recycling),
            None => Manager::from_config(config, tokio_postgres::NoTls, recycling),
        };
        let limits = Timeouts {
            wait: Some(self.deadline),
            create: Some(self.deadline),
            recycle: Some(self.deadline.min(Duration::from_secs(5))),
        };
        let pool =
            Pool::builder(manager).max_size(self.connections).timeouts(limits).runtime(Runtime::Tokio1);
        let pool = pool.build().map_err(|error| settings(error.to_string()))?;
        let Self { schema, deadline, batch, hnsw, .. } = self;
        Ok(PgVectorStore { pool, schema, deadline, batch, hnsw })
    }
}

impl fmt::Debug for PgVectorStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the URL, which may hold the password.
        f.debug_struct("PgVectorStoreBuilder")
            .field("schema", &self.schema)
            .field("connections", &self.connections)
            .field("deadline", &self.deadline)
            .field("batch", &self.batch)
            .field("hnsw", &self.hnsw)
            .finish_non_exhaustive()
    }
}
