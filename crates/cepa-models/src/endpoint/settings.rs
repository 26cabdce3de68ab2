//! How a server is reached: what the builders of all models share.

use std::{
    fmt,
    panic::{self, AssertUnwindSafe},
    time::Duration,
};

use reqwest::{
    Client, ClientBuilder, Url,
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue},
    redirect,
};
use secrecy::{ExposeSecret, SecretString};

use super::{Endpoint, Secrets};
use crate::ConfigError;

/// How long a server of speech may be silent, unless another time is set: whoever listens waits no longer.
pub(crate) const SPEECH_IDLE: Duration = Duration::from_secs(30);

/// Who runs the API, where nothing else is said.
#[derive(Clone, Copy)]
pub(crate) struct Service {
    pub(crate) base_url: &'static str,
    /// The environment's variable that holds the key.
    pub(crate) key_variable: &'static str,
    /// That which holds the base URL.
    pub(crate) url_variable: Option<&'static str>,
    /// Whether it speaks over a WebSocket.
    pub(crate) websocket: bool,
}

/// OpenAI itself.
pub(crate) const OPENAI: Service = Service {
    base_url: "https://api.openai.com/v1",
    key_variable: "OPENAI_API_KEY",
    url_variable: Some("OPENAI_BASE_URL"),
    websocket: false,
};

/// The settings of a server, as the builders collect them.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) service: Service,
    pub(crate) base_url: Option<String>,
    pub(crate) api_key: Option<SecretString>,
    pub(crate) headers: Vec<(String, SecretString)>,
    pub(crate) max_retries: u32,
    pub(crate) retry_delay: Duration,
    pub(crate) max_retry_wait: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) idle_timeout: Duration,
    pub(crate) timeout: Duration,
    pub(crate) max_event_bytes: usize,
    pub(crate) max_body_bytes: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            service: OPENAI,
            base_url: None,
            api_key: None,
            headers: Vec::new(),
            max_retries: 2,
            retry_delay: Duration::from_millis(500),
            max_retry_wait: Duration::from_secs(60),
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(300),
            timeout: Duration::from_secs(1800),
            max_event_bytes: 8 << 20,
            max_body_bytes: 64 << 20,
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither the key nor the headers nor the URL as it was given, which may hold one.
        f.debug_struct("Settings")
            .field("max_retries", &self.max_retries)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// Fills in key and base URL from the environment where they are not set.
    pub(crate) fn fill_from(&mut self, env: impl Fn(&str) -> Option<String>) {
        let set = |name| env(name).filter(|value| !value.trim().is_empty());
        if self.api_key.is_none() {
            self.api_key = set(self.service.key_variable).map(Into::into);
        }
        if self.base_url.is_none() {
            self.base_url = self.service.url_variable.and_then(set);
        }
    }

    /// Checks the settings and sets up the client for this path of the API (`chat/completions`).
    pub(crate) fn endpoint(self, path: &str, name: &str) -> Result<Endpoint, ConfigError> {
        if name.trim().is_empty() {
            return Err(ConfigError::NoName);
        }
        self.check_ranges()?;
        let url = self.service.url(self.base_url.as_deref(), path)?;
        if self.api_key.is_none() && self.headers.is_empty() && self.service.runs(&url) {
            let host = url.host_str().unwrap_or_default().to_owned();
            return Err(ConfigError::NoKey { host, variable: self.service.key_variable });
        }
        let mut secrets = Secrets::default();
        let headers = self.header_map(&mut secrets)?;
        let client = Client::builder()
            .connect_timeout(self.connect_timeout)
            // A redirected POST is a wrong base URL, and keys should not go where nobody sent them.
            .redirect(redirect::Policy::none())
            .user_agent(concat!("cepa/", env!("CARGO_PKG_VERSION")));
        // Only HTTP/1.1 has an upgrade to a WebSocket.
        let client = if self.service.websocket { client.http1_only() } else { client };
        let client = build(client).map_err(|reason| ConfigError::Client { reason })?;
        Ok(Endpoint { client, url, headers, secrets, settings: self, asker: format!("model `{name}`") })
    }

    fn check_ranges(&self) -> Result<(), ConfigError> {
        let times = [
            ("connect_timeout", self.connect_timeout),
            ("idle_timeout", self.idle_timeout),
            ("timeout", self.timeout),
            ("retry_delay", self.retry_delay),
        ];
        if let Some((setting, _)) = times.iter().find(|(_, time)| time.is_zero()) {
            return Err(ConfigError::OutOfRange { setting, reason: "must be longer than zero" });
        }
        let sizes = [("max_event_bytes", self.max_event_bytes), ("max_body_bytes", self.max_body_bytes)];
        match sizes.iter().find(|(_, size)| *size < 1024) {
            Some((setting, _)) => Err(ConfigError::OutOfRange { setting, reason: "must be at least 1024" }),
            None => Ok(()),
        }
    }

    fn header_map(&self, secrets: &mut Secrets) -> Result<HeaderMap, ConfigError> {
        let mut headers = HeaderMap::new();
        if let Some(key) = &self.api_key {
            let key = SecretString::from(key.expose_secret().trim());
            let value = sensitive(&format!("Bearer {}", key.expose_secret())).ok_or(ConfigError::BadKey)?;
            headers.insert(AUTHORIZATION, value);
            secrets.add(&key);
        }
        for (name, value) in &self.headers {
            let header = name.parse::<HeaderName>().ok().zip(sensitive(value.expose_secret()));
            let Some((header, header_value)) = header else {
                return Err(ConfigError::BadHeader { name: name.clone() });
            };
            headers.insert(header, header_value);
            secrets.add(value);
        }
        Ok(headers)
    }
}

/// Builds the client. It panics when `rustls-no-provider` is on and the program has installed no provider.
fn build(client: ClientBuilder) -> Result<Client, String> {
    match panic::catch_unwind(AssertUnwindSafe(|| client.build())) {
        Ok(built) => built.map_err(|error| error.to_string()),
        Err(_) => Err("there is no TLS; with the feature `rustls-no-provider` the program must install a \
                       provider of cryptography before it builds a model"
            .to_owned()),
    }
}

fn sensitive(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

impl Service {
    /// The URL of one path of the API. A base URL that is the path's whole URL already is understood too.
    fn url(&self, base: Option<&str>, path: &str) -> Result<Url, ConfigError> {
        let bad = |url: &str, reason: String| ConfigError::BadBaseUrl {
            url: url.into(),
            reason,
            example: self.base_url,
        };
        // What does not parse might hold a password that cannot be found in it: it is not repeated.
        let base = base.unwrap_or(self.base_url).trim();
        let mut url = Url::parse(base).map_err(|error| bad("…", error.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() {
            let reason = "it holds a user name or a password; use `.api_key(…)`";
            return Err(bad(url.host_str().unwrap_or("…"), reason.into()));
        }
        let [insecure, secure] = if self.websocket { ["ws", "wss"] } else { ["http", "https"] };
        if ![insecure, secure].contains(&url.scheme()) || !url.has_host() {
            return Err(bad(url.as_str(), format!("it is no `{insecure}:` or `{secure}:` URL")));
        }
        let base_path = url.path().trim_end_matches('/');
        let base_path = base_path.strip_suffix(path).unwrap_or(base_path).trim_end_matches('/');
        let full = format!("{base_path}/{path}");
        url.set_path(&full);
        url.set_fragment(None);
        Ok(url)
    }

    /// Whether the URL is on the service's own server, which takes nobody without a key.
    fn runs(&self, url: &Url) -> bool {
        Url::parse(self.base_url).is_ok_and(|own| own.host_str() == url.host_str())
    }
}

/// The methods that the builders of all models over HTTP have, with what differs in their documentation: where the
/// API is by default, what the environment tells, and how long the server may be silent by default.
macro_rules! connection_setters {
    () => {
        connection_setters!(
            "OpenAI's own (`https://api.openai.com/v1`)",
            "the key (`OPENAI_API_KEY`) and the base URL (`OPENAI_BASE_URL`)",
            "5 minutes"
        );
    };
    ($base_url:literal, $environment:literal, $idle_timeout:literal) => {
        #[doc = concat!("Where the API is. ", $base_url, " by default.")]
        pub fn base_url(mut self, url: impl Into<String>) -> Self {
            self.connection.base_url = Some(url.into());
            self
        }

        /// The key, sent as `Authorization: Bearer …`. Servers of one's own mostly need none.
        pub fn api_key(mut self, key: impl Into<String>) -> Self {
            self.connection.api_key = Some(key.into().into());
            self
        }

        /// A further header of each request. Its value is treated as a secret.
        pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
            self.connection.headers.push((name.into(), value.into().into()));
            self
        }

        #[doc = concat!("Takes ", $environment, " from the environment, where it is not set already.")]
        pub fn or_env(mut self) -> Self {
            self.connection.fill_from(|name| std::env::var(name).ok());
            self
        }

        /// How many further attempts a request gets after a failure that may go away: the statuses 408, 409, 429
        /// and 5xx, and broken connections. 2 by default. Never after a piece of the answer has gone out. Each attempt
        /// that failed and is followed by another is a warning of `tracing`.
        pub fn max_retries(mut self, retries: u32) -> Self {
            self.connection.max_retries = retries;
            self
        }

        /// The wait before the second attempt, which doubles from there, with jitter. Half a second by default. A
        /// `Retry-After` of the server goes before.
        pub fn retry_delay(mut self, delay: std::time::Duration) -> Self {
            self.connection.retry_delay = delay;
            self
        }

        /// The longest `Retry-After` to wait for; a longer one is an error at once, with the time in it. A minute
        /// by default.
        pub fn max_retry_wait(mut self, wait: std::time::Duration) -> Self {
            self.connection.max_retry_wait = wait;
            self
        }

        /// How long connecting may take. 10 seconds by default.
        pub fn connect_timeout(mut self, limit: std::time::Duration) -> Self {
            self.connection.connect_timeout = limit;
            self
        }

        /// How long the server may be silent, before its answer and within it.
        #[doc = concat!($idle_timeout, " by default.")]
        pub fn idle_timeout(mut self, limit: std::time::Duration) -> Self {
            self.connection.idle_timeout = limit;
            self
        }

        /// How long one call may wait for the server, all attempts and the waits between them together; the time
        /// that the reader of the answer takes does not count. 30 minutes by default.
        pub fn timeout(mut self, limit: std::time::Duration) -> Self {
            self.connection.timeout = limit;
            self
        }

        /// The most bytes of one answer. 64 MiB by default.
        pub fn max_body_bytes(mut self, limit: usize) -> Self {
            self.connection.max_body_bytes = limit;
            self
        }
    };
}
pub(crate) use connection_setters;

#[cfg(test)]
mod tests {
    use super::*;

    fn url(base: &str) -> String {
        OPENAI
            .url(Some(base), "chat/completions")
            .map_or_else(|error| error.to_string(), |url| url.to_string())
    }

    #[test]
    fn base_urls_are_taken_as_people_write_them() {
        for base in ["http://h/v1", "http://h/v1/", " http://h/v1/chat/completions ", "http://h/v1#x"] {
            assert_eq!(url(base), "http://h/v1/chat/completions", "{base}");
        }
        assert_eq!(url("http://h"), "http://h/chat/completions");
        assert_eq!(url("https://h/d?api-version=1"), "https://h/d/chat/completions?api-version=1");
    }

    #[test]
    fn bad_base_urls_are_named_without_their_password() {
        assert!(url("ftp://h/v1").contains("`ftp://h/v1`"));
        assert!(url("localhost:8080/v1").contains("no `http:`"));
        assert!(url("").contains("cannot be the base URL"));
        let with_password = url("https://me:hush@h/v1");
        assert!(with_password.contains("api_key") && !with_password.contains("hush"), "{with_password}");
    }

    #[test]
    fn the_environment_fills_only_what_is_not_set() {
        let env = |name: &str| Some(format!("env-{name}"));
        let mut settings = Settings { base_url: Some("http://mine".into()), ..Settings::default() };
        settings.fill_from(env);
        assert_eq!(settings.base_url.as_deref(), Some("http://mine"));
        assert_eq!(settings.api_key.unwrap().expose_secret(), "env-OPENAI_API_KEY");
    }
}
