//! Setting up a rerank model.

use std::{sync::Arc, time::Duration};

use super::HttpRerank;
use crate::{
    ConfigError,
    endpoint::{Service, Settings, connection_setters},
};

/// Who runs such an API, where nothing else is said.
const JINA: Service = Service {
    base_url: "https://api.jina.ai/v1",
    key_variable: "JINA_API_KEY",
    url_variable: Some("JINA_BASE_URL"),
    websocket: false,
};

/// A reply waits for it.
const IDLE: Duration = Duration::from_secs(30);

/// Sets up an [`HttpRerank`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `.build()`"]
pub struct HttpRerankBuilder {
    model: Arc<str>,
    connection: Settings,
}

impl HttpRerankBuilder {
    pub(super) fn new(model: Arc<str>) -> Self {
        let connection = Settings { service: JINA, idle_timeout: IDLE, ..Settings::default() };
        Self { model, connection }
    }

    connection_setters!(
        "Jina's (`https://api.jina.ai/v1`)",
        "the key (`JINA_API_KEY`) and the base URL (`JINA_BASE_URL`)",
        "30 seconds"
    );

    /// Checks the settings and makes the model. Nothing is sent.
    ///
    /// # Errors
    /// What is wrong with the settings.
    pub fn build(self) -> Result<HttpRerank, ConfigError> {
        Ok(HttpRerank { endpoint: self.connection.endpoint("rerank", &self.model)?, model: self.model })
    }
}
