//! The collector, and what is said when it cannot be reached.

use std::{
    error::Error as StdError,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
};

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use reqwest::{StatusCode, Url, blocking::Client, redirect};

use super::{error::OtlpError, settings::Target};

/// The way to a collector for one kind of data. The SDK sends from threads of its own, so the client is a blocking one:
/// an asynchronous one panics there.
#[derive(Debug)]
pub(super) struct Collector {
    client: Client,
    query: Option<Query>,
    health: Arc<Health>,
}

/// A URL with a query, which may hold a key. Only requests have it: neither the SDK nor a log sees it.
struct Query(Url);

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Query")
    }
}

/// A URL without its query.
pub(super) fn plain(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

impl Collector {
    pub(super) fn new(target: &Target, health: Arc<Health>) -> Result<Self, OtlpError> {
        let fails = |reason: String| OtlpError::Client { reason };
        let (timeout, tls) = (target.timeout, target.tls.clone());
        let build = move || {
            // A redirected request is a wrong URL, and keys should not go where nobody sent them.
            let client = Client::builder().timeout(timeout).redirect(redirect::Policy::none());
            tls.apply(client)?.build().map_err(|error| fails(innermost(&error).to_string()))
        };
        // On a thread of its own: in a task of tokio it would panic, as a blocking client holds a runtime.
        let thread = thread::Builder::new().spawn(build).map_err(|error| fails(error.to_string()))?;
        match thread.join() {
            Ok(Ok(client)) => {
                let query = target.url.query().map(|_| Query(target.url.clone()));
                Ok(Self { client, query, health })
            }
            Ok(Err(error)) => Err(error),
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
    async fn send_bytes(&self, mut request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        if let Some(Query(url)) = &self.query {
            *request.uri_mut() = url.as_str().parse()?;
        }
        let result = self.client.send_bytes(request).await.map_err(|error| {
            let plain = |error: Box<reqwest::Error>| HttpError::from(error.without_url());
            error.downcast().map_or_else(|error| error, plain)
        });
        match &result {
            Ok(response) => self.health.answered(response.status()),
            Err(error) => self.health.silent(&**error),
        }
        result
    }
}

/// The target of what is said here.
pub(super) const TARGET: &str = module_path!();

/// Whether what is sent arrives. Of an outage it is told twice: when it begins and when it is over.
#[derive(Debug)]
pub(super) struct Health {
    /// `spans` or `metrics`.
    pub(super) what: &'static str,
    /// Without what may be a key.
    pub(super) url: String,
    origin: String,
    /// Nobody answers: true for all that goes there.
    unreachable: Arc<AtomicBool>,
    /// The answer is a no: as a rule to one kind of data.
    refused: AtomicBool,
    failure: Mutex<Option<String>>,
}

impl Health {
    /// Of the way to this URL, beside another one that may go to the same collector.
    pub(super) fn new(what: &'static str, url: &Url, beside: Option<&Self>) -> Arc<Self> {
        let origin = url.origin().ascii_serialization();
        let unreachable = match beside {
            Some(other) if other.origin == origin => other.unreachable.clone(),
            _ => Arc::default(),
        };
        Arc::new(Self {
            what,
            url: plain(url),
            origin,
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
        let (origin, cause) = (&self.origin, innermost(error));
        self.note(Some(format!("no answer from {origin}: {cause}")));
        if !self.unreachable.swap(true, Relaxed) {
            tracing::warn!(
                "no OpenTelemetry collector answers at {origin} ({cause}): spans and metrics are lost until one does; \
                 the agent runs on"
            );
        }
    }
}

/// The innermost cause says most ("connection refused"); the outer ones say that something failed, and for which URL.
fn innermost<'a>(error: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause
}
