//! [`Http`].

use std::{fmt, time::Duration};

use reqwest::{
    Client, Method, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
    redirect,
};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde_json::Value;

use crate::ServerError;

/// The most bytes of an answer.
const MAX_BYTES: usize = 16 << 20;
/// How much of a service's own words is told.
const MAX_WORDS: usize = 300;

/// A service that speaks JSON over HTTP, ready to be asked. Clones share their connections.
///
/// Redirects are not followed, no answer is read beyond 16 MiB, and the key is in no error and no log.
#[derive(Clone)]
pub struct Http {
    service: &'static str,
    client: Client,
    base: Url,
    headers: HeaderMap,
    secret: Option<SecretString>,
    deadline: Duration,
}

impl Http {
    /// The service at this URL; each call ends within the deadline. The name is for errors: `the mem0 server`.
    ///
    /// # Errors
    /// [`ServerError::Settings`] for a URL that is none, or a deadline of 0.
    pub fn new(service: &'static str, url: &str, deadline: Duration) -> Result<Self, ServerError> {
        let settings = |reason: String| ServerError::Settings(reason);
        if deadline.is_zero() {
            return Err(settings(format!("the deadline of {service} is 0: give it some time")));
        }
        // Not all of it: what is before an `@` may be a password, and what is after the host a key.
        let wrong = || {
            let told = shown_url(url);
            settings(format!("`{told}` is no URL of {service}: write it as `http://127.0.0.1:8000`"))
        };
        let mut base = Url::parse(url.trim()).map_err(|_| wrong())?;
        if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none() {
            return Err(wrong());
        }
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        // A redirected POST is a wrong URL, and keys should not go where nobody sent them.
        let client = Client::builder().redirect(redirect::Policy::none());
        let client = client.build().map_err(|error| settings(error.to_string()))?;
        Ok(Self { service, client, base, headers: HeaderMap::new(), secret: None, deadline })
    }

    /// Signs in with a header, such as `Authorization` and `Token KEY`: the scheme (`Token `) is put before the key.
    ///
    /// # Errors
    /// [`ServerError::Settings`] for a key that no header can hold.
    pub fn sign_in(
        mut self,
        header: HeaderName,
        scheme: &str,
        key: SecretString,
    ) -> Result<Self, ServerError> {
        let value = format!("{scheme}{}", key.expose_secret().trim());
        let mut value = HeaderValue::from_str(&value).map_err(|_| {
            ServerError::Settings(format!("the key of {} holds characters that no key has", self.service))
        })?;
        value.set_sensitive(true);
        self.headers.insert(header, value);
        self.secret = Some(key);
        Ok(self)
    }

    /// Sends JSON and returns the JSON that comes back; `Null` for an empty answer. The path is relative to the
    /// service's URL, and may have a query.
    ///
    /// # Errors
    /// Whatever keeps an answer from coming: see [`ServerError`].
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&(impl Serialize + Sync)>,
    ) -> Result<Value, ServerError> {
        let limit = self.deadline;
        match tokio::time::timeout(limit, self.exchange(method, path, body)).await {
            Ok(result) => result,
            Err(_) => Err(ServerError::Deadline { service: self.service, limit }),
        }
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Option<&(impl Serialize + Sync)>,
    ) -> Result<Value, ServerError> {
        let url = self.base.join(path.trim_start_matches('/')).map_err(|error| self.nonsense(error))?;
        let mut request = self.client.request(method, url).headers(self.headers.clone());
        if let Some(body) = body {
            request = request.json(body);
        }
        let mut response = request.send().await.map_err(|error| self.unreachable(error))?;
        let status = response.status();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.unreachable(error))? {
            if bytes.len() + chunk.len() > MAX_BYTES {
                return Err(ServerError::TooLarge { service: self.service, limit: MAX_BYTES });
            }
            bytes.extend_from_slice(&chunk);
        }
        if !status.is_success() {
            let words = self.words(&String::from_utf8_lossy(&bytes));
            return Err(ServerError::Refused { service: self.service, status: status.as_u16(), words });
        }
        if bytes.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&bytes).map_err(|error| self.nonsense(format_args!("no JSON ({error})")))
    }

    /// An answer that is JSON, but not the one that was expected.
    pub fn nonsense(&self, reason: impl fmt::Display) -> ServerError {
        ServerError::Nonsense { service: self.service, reason: self.words(&reason.to_string()) }
    }

    fn unreachable(&self, error: reqwest::Error) -> ServerError {
        let error = error.without_url();
        // The innermost cause says most ("connection refused"); reqwest's own text says that sending failed.
        let mut cause: &dyn std::error::Error = &error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        let url = self.base.origin().ascii_serialization();
        ServerError::Unreachable { service: self.service, url, reason: self.words(&cause.to_string()) }
    }

    /// A service's words, short, on one line, and without the key.
    pub fn words(&self, text: &str) -> String {
        let text = match &self.secret {
            Some(secret) if secret.expose_secret().trim().len() >= 6 => {
                text.replace(secret.expose_secret().trim(), "[key]")
            }
            _ => text.to_owned(),
        };
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(MAX_WORDS) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }
}

/// What may be shown of a URL, also of one that cannot be used: its beginning, without user and password.
pub fn shown_url(url: &str) -> String {
    let (scheme, rest) = match url.trim().split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), url.trim()),
    };
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let cut = if host.len() < rest.len() { "/…" } else { "" };
    format!("{scheme}{host}{cut}")
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the path, which may hold a key, and without the headers, which do.
        f.debug_struct("Http")
            .field("service", &self.service)
            .field("origin", &self.base.origin().ascii_serialization())
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
