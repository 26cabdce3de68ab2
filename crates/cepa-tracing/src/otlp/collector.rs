//! The collector, and what is said when it cannot be reached.

use std::{
    error::Error as StdError,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use reqwest::{StatusCode, Url, blocking::Client, redirect};

use super::error::OtlpError;

/// The way to a collector for one kind of data. The SDK sends from threads of its own, so the client is a blocking one:
/// an asynchronous one panics there.
#[derive(Debug)]
pub(super) struct Collector {
    client: Client,
    health: Arc<Health>,
}

impl Collector {
    pub(super) fn new(timeout: Duration, health: Arc<Health>) -> Result<Self, OtlpError> {
        // A redirected request is a wrong URL, and keys should not go where nobody sent them.
        let build = move || Client::builder().timeout(timeout).redirect(redirect::Policy::none()).build();
        let fails = |reason: String| OtlpError::Client { reason };
        // On a thread of its own: in a task of tokio it would panic, as a blocking client holds a runtime.
        let thread = thread::Builder::new().spawn(build).map_err(|error| fails(error.to_string()))?;
        match thread.join() {
            Ok(Ok(client)) => Ok(Self { client, health }),
            Ok(Err(error)) => Err(fails(error.to_string())),
            Err(_) => Err(fails(
                "there is no TLS; with the feature `rustls-no-provider` the program must install a provider of \
                 cryptography first"
                    .to_owned(),
            )),
        }
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let result = self.client.send_bytes(request).await;
        match &result {
            Ok(response) => self.health.answered(response.status()),
            Err(error) => self.health.silent(&**error),
        }
        result
    }
}

/// Whether what is sent arrives. Of an outage it is told twice: when it begins and when it is over.
#[derive(Debug)]
pub(super) struct Health {
    /// `spans` or `metrics`.
    pub(super) what: &'static str,
    url: Url,
    /// Nobody answers: true for all that goes there.
    unreachable: Arc<AtomicBool>,
    /// The answer is a no: as a rule to one kind of data.
    refused: AtomicBool,
    failure: Mutex<Option<String>>,
}

impl Health {
    /// Of the way to this URL, beside another one that may go to the same collector.
    pub(super) fn new(what: &'static str, url: &Url, beside: Option<&Self>) -> Arc<Self> {
        let unreachable = match beside {
            Some(other) if other.url.origin() == url.origin() => other.unreachable.clone(),
            _ => Arc::default(),
        };
        Arc::new(Self {
            what,
            url: url.clone(),
            unreachable,
            refused: AtomicBool::default(),
            failure: Mutex::default(),
        })
    }

    /// Why the last request failed, if it did.
    pub(super) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, failure: Option<String>) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }

    fn answered(&self, status: StatusCode) {
        let (what, url) = (self.what, &self.url);
        let was_unreachable = self.unreachable.swap(false, Relaxed);
        if status.is_success() {
            self.note(None);
            if self.refused.swap(false, Relaxed) || was_unreachable {
                tracing::info!("the OpenTelemetry collector at {url} takes {what} again");
            }
            return;
        }
        self.note(Some(format!("{url} answers {status}")));
        if !self.refused.swap(true, Relaxed) {
            tracing::warn!(
                "the OpenTelemetry collector at {url} answers {status}: {what} are lost until it takes them; the agent \
                 runs on"
            );
        }
    }

    fn silent(&self, error: &(dyn StdError + 'static)) {
        // The innermost cause says most ("connection refused"); the outer ones say that sending failed.
        let mut cause = error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        let origin = self.url.origin().ascii_serialization();
        self.note(Some(format!("no answer from {origin}: {cause}")));
        if !self.unreachable.swap(true, Relaxed) {
            tracing::warn!(
                "no OpenTelemetry collector answers at {origin} ({cause}): spans and metrics are lost until one does; \
                 the agent runs on"
            );
        }
    }
}
