//! A server, as all models on it see it: where it is, how to sign in, how long to wait, how much to take.

mod body;
mod events;
mod failure;
mod patience;
mod retry;
mod secrets;
mod settings;
#[cfg(feature = "realtime")]
mod websocket;

use std::{error::Error as _, fmt};

use bytes::Bytes;
use cepa_core::{ErrorType, ModelError};
use reqwest::{
    Client, RequestBuilder, Response, StatusCode, Url,
    header::{CONTENT_TYPE, HeaderMap},
};

#[cfg(feature = "realtime")]
pub(crate) use self::websocket::Socket;
pub(crate) use self::{
    events::EventDecoder,
    failure::ServerError,
    patience::Patience,
    retry::Retries,
    settings::{SPEECH_IDLE, Service, Settings, connection_setters},
};
use self::{patience::Impatient, secrets::Secrets};

/// A server, ready to be asked.
pub(crate) struct Endpoint {
    client: Client,
    url: Url,
    headers: HeaderMap,
    secrets: Secrets,
    settings: Settings,
    /// Who asks, for errors: ``model `gpt-4o-mini` ``.
    asker: String,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the query, which may hold a key, and without the headers, which do.
        let url = format_args!("{}{}", self.url.origin().ascii_serialization(), self.url.path());
        f.debug_struct("Endpoint").field("url", &url).finish_non_exhaustive()
    }
}

impl Endpoint {
    /// The time that one call may take, all its attempts together.
    pub(crate) fn patience(&self) -> Patience {
        Patience::new(self.settings.idle_timeout, self.settings.timeout)
    }

    /// The further attempts that one call has.
    pub(crate) fn retries(&self) -> Retries {
        Retries::new(&self.settings)
    }

    /// The server's name.
    pub(crate) fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// The most bytes of one event.
    pub(crate) fn max_event_bytes(&self) -> usize {
        self.settings.max_event_bytes
    }

    /// Sends a JSON body. A status other than success is an error that says what the server said.
    pub(crate) async fn post(&self, body: Bytes, patience: &mut Patience) -> Result<Response, ModelError> {
        let request = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        self.send(request, StatusCode::is_success, patience).await
    }

    /// Sends a request. A status other than the one hoped for is an error that says what the server said.
    async fn send(
        &self,
        request: RequestBuilder,
        is_good: impl FnOnce(&StatusCode) -> bool,
        patience: &mut Patience,
    ) -> Result<Response, ModelError> {
        patience.restore();
        let request = request.headers(self.headers.clone());
        let response = match patience.wait(request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.unreachable(error)),
            Err(impatient) => return Err(self.impatient(impatient)),
        };
        if is_good(&response.status()) {
            return Ok(response);
        }
        Err(self.refused(response, patience).await)
    }

    /// The next piece of an answer; `None` at its end.
    pub(crate) async fn chunk(
        &self,
        response: &mut Response,
        patience: &mut Patience,
    ) -> Result<Option<Bytes>, ModelError> {
        match patience.wait(response.chunk()).await {
            Ok(Ok(chunk)) => Ok(chunk),
            Ok(Err(error)) => Err(self.broken_off(error)),
            Err(impatient) => Err(self.impatient(impatient)),
        }
    }

    /// An error of this kind; whatever it says, it does not say a key.
    pub(crate) fn error(&self, kind: ErrorType, what: impl fmt::Display) -> ModelError {
        ModelError::new(kind, self.secrets.scrub(&format!("{}: {what}", self.asker)))
    }

    fn impatient(&self, impatient: Impatient) -> ModelError {
        self.error(ErrorType::Connection, impatient)
    }

    fn unreachable(&self, error: reqwest::Error) -> ModelError {
        let host = self.url.authority();
        self.transport(format_args!("no answer from {host}"), error)
    }

    fn broken_off(&self, error: reqwest::Error) -> ModelError {
        self.transport(format_args!("the answer broke off"), error)
    }

    fn transport(&self, what: fmt::Arguments<'_>, error: reqwest::Error) -> ModelError {
        let error = error.without_url();
        // The innermost cause says most ("connection refused"); reqwest's own text says that sending failed.
        let mut cause = error.source();
        while let Some(inner) = cause.and_then(|cause| cause.source()) {
            cause = Some(inner);
        }
        let words = cause.map_or_else(|| error.to_string(), ToString::to_string);
        self.error(ErrorType::Connection, format_args!("{what}: {words}")).with_source(error)
    }
}
